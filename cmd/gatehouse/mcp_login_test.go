package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// loginServer is an MCP server that wants a login, and its own authorization server, which gives it to everybody.
func loginServer(t *testing.T) (address string) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "guarded", Version: "1"}, nil)
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	says := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	var base string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			says(w, map[string]any{
				"issuer": base, "authorization_endpoint": base + "/authorize", "token_endpoint": base + "/token",
				"registration_endpoint":            base + "/register",
				"code_challenge_methods_supported": []string{"S256"},
			})
		case "/register":
			w.WriteHeader(http.StatusCreated)
			says(w, map[string]any{"client_id": "c", "token_endpoint_auth_method": "none"})
		case "/authorize":
			q := r.URL.Query()
			http.Redirect(w, r, q.Get("redirect_uri")+"?code=c&state="+url.QueryEscape(q.Get("state")),
				http.StatusFound)
		case "/token":
			says(w, map[string]any{"access_token": "the-token-of-the-test", "token_type": "Bearer", "expires_in": 3600})
		case "/mcp":
			if r.Header.Get("Authorization") != "Bearer the-token-of-the-test" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			inner.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(h.Close)
	base = h.URL
	return base + "/mcp"
}

var printedAddress = regexp.MustCompile(`(?m)^  (http\S+)$`)

// TestServeTakesALogin: gatehouse mcp login beside a running gatehouse serve has the server's tools there soon. It
// warns where the key lies beside the login, and how long the login is good for.
func TestServeTakesALogin(t *testing.T) {
	t.Parallel()
	path := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"guarded": loginServer(t)})
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_MCP_CONFIG="+path)
	p.open()
	p.says("run gatehouse mcp login guarded")
	impatient := p.workbench.start(nil, "mcp", "login", "guarded")
	p.until("the address to open", impatient, func() bool { return printedAddress.MatchString(impatient.out.String()) })
	noErr(t, impatient.cmd.Process.Signal(os.Interrupt))
	<-impatient.done
	if !strings.Contains(impatient.out.String(), "The login was interrupted, and nothing was stored.") {
		t.Errorf("it printed %s", impatient.out.String())
	}
	login := p.workbench.start(nil, "mcp", "login", "guarded", "--paste")
	p.until("the address to open", login, func() bool { return printedAddress.MatchString(login.out.String()) })
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := browser.Get(printedAddress.FindStringSubmatch(login.out.String())[1])
	noErr(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	fmt.Fprintln(login.in, "http://127.0.0.1/?state=another")
	fmt.Fprintln(login.in, resp.Header.Get("Location"))
	<-login.done
	for _, want := range []string{
		"That is not the address of this login", "GATEHOUSE_SECRET_KEY is not set, so the key", "the login ends at",
		"Logged in to the MCP server guarded",
	} {
		if !strings.Contains(login.out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, login.out.String())
		}
	}
	awaitServer(t, p.at, "guarded")
	if strings.Contains(p.app.out.String()+login.out.String(), "the-token-of-the-test") {
		t.Error("the token was printed")
	}
}

// TestDoctorSaysWhatToDoAboutAServerThatIsAway: what fits the server, and one thing.
func TestDoctorSaysWhatToDoAboutAServerThatIsAway(t *testing.T) {
	login := loginServer(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	w := newProg(t)
	t.Setenv("GATEHOUSE_MCP_CONFIG",
		serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"guarded": login, "gone": gone.URL}))
	_, out, _ := w.prog(nil, "doctor")
	for _, want := range []string{
		"→ Run gatehouse mcp login guarded.\n",
		"→ Correct its entry in the file of GATEHOUSE_MCP_CONFIG, or ask whoever runs the server.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "run its command by hand") {
		t.Errorf("a server without a command:\n%s", out)
	}
}
