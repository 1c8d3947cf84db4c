package inbound

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/inflight"
)

const maxRedirects = 3

// slots limits how many files this process holds in memory, however many people send some: from the request for a file
// until it is stored, or until its text is cut to its limit.
var slots = make(chan struct{}, 4)

// Fetcher fetches files from a platform's own hosts, and from nowhere else, and stores the images among them.
type Fetcher struct {
	Blobs      core.Blobs
	Event      core.Event // the one that the files come with
	Title      string     // of the platform, in errors
	Client     *http.Client
	Header     http.Header // added to each request; nil: nothing
	APIURL     string      // the configured address of the platform: its host is one of the platform's own
	Hosts      []string    // the platform's own; ".slack.com" stands for all within slack.com
	Refused    error       // returned if the platform refuses the file
	Redirected error       // returned if it redirects to a foreign host
}

// passing are the statuses below 500 of what passes by itself; a platform's own hosts send only the first one, and
// proxies the others.
var passing = []int{
	http.StatusTooManyRequests, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusMisdirectedRequest,
	http.StatusTooEarly,
}

var errForeignHost = errors.New("redirected to a foreign host")

// Fetch fetches a file from an address, within its limits. Error: provider_unavailable, or the store's, if another
// attempt may succeed; those of user-correctable categories are permanent.
func (i Fetcher) Fetch(ctx context.Context, f File, address string) (Content, error) {
	if !i.own(address) {
		return Content{}, core.Errorf(core.NotAllowed, "it is not stored at %s", i.Title)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Content{}, core.Errorf(core.Invalid, "its address can't be read")
	}
	maps.Copy(r.Header, i.Header)
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return Content{}, context.Cause(ctx)
	}
	response, err := i.client().Do(r)
	switch {
	case errors.Is(err, errForeignHost):
		return Content{}, i.Redirected
	case err != nil:
		return Content{},
			core.Wrap(core.ProviderUnavailable, outbound.WithoutURL(err), "%s can't be asked for a file now.", i.Title)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode >= http.StatusInternalServerError || slices.Contains(passing, response.StatusCode):
		status := response.StatusCode
		return Content{},
			core.Errorf(core.ProviderUnavailable, "%s can't be asked for a file now (%d).", i.Title, status)
	case response.StatusCode != http.StatusOK:
		return Content{}, i.Refused
	}
	limit := f.most()
	hold := inflight.Of(ctx) // the turn's; a file is also copied as it is stored
	hold.Grow(2 * limit)
	defer hold.Grow(-2 * limit)
	if response.ContentLength > limit && !f.isText() {
		return Content{}, f.tooLarge()
	}
	var body bytes.Buffer
	body.Grow(int(min(max(response.ContentLength, 0), limit)) + bytes.MinRead) // so that it need not grow by copying
	if _, err := body.ReadFrom(io.LimitReader(response.Body, limit+1)); err != nil {
		return Content{},
			core.Wrap(core.ProviderUnavailable, outbound.WithoutURL(err), "%s did not send all of a file.", i.Title)
	}
	whole := max(int64(body.Len()), response.ContentLength, int64(f.Size))
	c, err := f.content(body.Bytes(), whole, func(data []byte) (string, error) {
		return i.Blobs.PutBlob(ctx, i.Event, data)
	})
	page, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && c.Image.Type == "" && page == "text/html" && !f.isPage() { // a sign-in page, for instance
		err = errSomethingElse
	}
	return c, err
}

// client returns a client that follows no redirect to a foreign host, which would receive the token.
func (i Fetcher) client() *http.Client {
	c := *i.Client
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !i.own(r.URL.String()) {
			return errForeignHost
		}
		return nil
	}
	return &c
}

// own reports whether an address is on one of the platform's hosts, or on the host of its configured address.
func (i Fetcher) own(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if configured, err := url.Parse(i.APIURL); err == nil && u.Scheme == configured.Scheme &&
		u.Host == configured.Host {
		return true
	}
	return u.Scheme == "https" && u.Port() == "" && IsOneOf(i.Hosts, u.Hostname())
}

// IsOneOf reports whether a host is one of those listed; ".slack.com" stands for all within slack.com.
func IsOneOf(hosts []string, host string) bool {
	return slices.ContainsFunc(hosts, func(own string) bool {
		return host == own || strings.HasPrefix(own, ".") && strings.HasSuffix(host, own)
	})
}
