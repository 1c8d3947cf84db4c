package login

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"gatehouse/core/mask"
)

// requestTime is how long one request to an authorization server may take.
const requestTime = 15 * time.Second

// newClient makes the client for metadata, registration and tokens. The SDK and x/oauth2 read at most 1 MiB of an
// answer.
func newClient() *http.Client {
	return &http.Client{
		Timeout: requestTime,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives: true,
			// the SDK's own refuses private addresses, where companies have theirs
			DialContext: (&net.Dialer{Timeout: requestTime}).DialContext,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			from := via[0].URL
			if req.URL.Scheme != from.Scheme || req.URL.Host != from.Host || len(via) > 3 {
				return fmt.Errorf("it redirects to %s, which is not followed", req.URL.Host)
			}
			return nil
		},
	}
}

// Needed is the error of a request that a server takes with another login only. Its text is for an admin.
type Needed struct{ Server, Why string }

// Error says what to do.
func (n Needed) Error() string { return n.Why + "; run gatehouse mcp login " + n.Server }

// originOf is the scheme and host of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// challenge is what a server wants, by its header WWW-Authenticate; nil: nothing that gatehouse can give.
func challenge(resp *http.Response) map[string]string {
	all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	for _, c := range all {
		if c.Scheme == "bearer" {
			if c.Params == nil {
				return map[string]string{}
			}
			return c.Params
		}
	}
	return nil
}

// detail is what a server says about an error, in parentheses.
func detail(code, description string) string {
	switch {
	case code == "":
		return ""
	case description != "":
		code += ": " + description
	}
	if len(code) > maxDetail {
		code = code[:maxDetail] + "…"
	}
	return " (" + mask.EscapeLine(code) + ")"
}

const maxDetail = 300

// tokenError is the error of a request for a token without the body of the answer, which may hold anything.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	if refused.ErrorCode == "" {
		return fmt.Errorf("it answered HTTP status %d", refused.Response.StatusCode)
	}
	return fmt.Errorf("it refused%s", detail(refused.ErrorCode, refused.ErrorDescription))
}
