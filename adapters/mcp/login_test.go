package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
	"gatehouse/storage"
)

// sdkFolder names the folder that .ci/mcp-sdk installs npm's packages to.
const sdkFolder = "GATEHOUSE_TEST_MCP_SDK"

// guarded is an MCP server that wants tokens of an authorization server.
type guarded struct {
	t      *testing.T
	url    string
	issuer atomic.Value // string
	token  atomic.Value // string: what it took last
}

// newGuarded starts the MCP server.
func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{t: t}
	g.issuer.Store("")
	server := plain()
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); {
		case r.URL.Path == "/.well-known/oauth-protected-resource/mcp":
			answer(w,
				map[string]any{
					"resource": g.url, "authorization_servers": []any{g.issuer.Load()},
					"scopes_supported": []string{"mcp"},
				})
		case r.URL.Path != "/mcp":
			http.NotFound(w, r)
		default:
			if why := g.refuses(token); why != "" {
				w.Header().Set("WWW-Authenticate",
					fmt.Sprintf(`Bearer error="invalid_token", error_description="%s"`, why))
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			g.token.Store(token)
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		h.Close()
		for session := range server.Sessions() { // which could not be ended without a token
			_ = session.Close()
		}
	})
	g.url = h.URL + "/mcp"
	return g
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuses asks the authorization server about a token.
func (g *guarded) refuses(token string) string {
	if token == "" {
		return "no token"
	}
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost,
		g.issuer.Load().(string)+"/token/introspection", strings.NewReader("token="+url.QueryEscape(token)))
	if err != nil {
		return err.Error()
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("by-hand", "the-secret-of-by-hand")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	var known struct {
		Active bool   `json:"active"`
		Aud    string `json:"aud"`
	}
	switch err := json.NewDecoder(resp.Body).Decode(&known); {
	case err != nil:
		return err.Error()
	case !known.Active:
		return "the token is not active"
	case known.Aud != g.url:
		return "the token is for " + known.Aud
	}
	return ""
}

// authorizationServer starts npm's oidc-provider for the server.
func (g *guarded) authorizationServer(env ...string) {
	g.t.Helper()
	folder := os.Getenv(sdkFolder)
	if folder == "" {
		g.t.Skipf("SKIPPED: logins were not tested with npm's oidc-provider. Set %s to the folder that .ci/mcp-sdk "+
			"prints.", sdkFolder)
	}
	cmd := exec.CommandContext(g.t.Context(), "node", "testdata/authserver.mjs")
	cmd.Env = append(os.Environ(), append(env, "MCP_SDK="+folder, "RESOURCES="+g.url)...)
	cmd.Stderr = g.t.Output()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	g.issuer.Store(addressIn(g.t, bufio.NewScanner(out), "http"))
}

// addressIn reads lines up to one that begins so.
func addressIn(t *testing.T, lines *bufio.Scanner, begin string) string {
	t.Helper()
	var before []string
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); strings.HasPrefix(line, begin) {
			return line
		}
		before = append(before, lines.Text())
	}
	t.Fatalf("there is no address in %q", before)
	return ""
}

// get gets one of the test's paths of the authorization server.
func (g *guarded) get(path string) string {
	g.t.Helper()
	resp, err := http.Get(g.issuer.Load().(string) + path)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// database opens a database with secret keys.
func database(t *testing.T, file string, keys ...string) *storage.Store {
	t.Helper()
	o := storage.Options{NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)}
	if len(keys) > 0 {
		var err error
		if o.Signer, err = core.NewSigner(keys...); err != nil {
			t.Fatal(err)
		}
	}
	store, err := storage.Open(context.Background(), "sqlite:"+file, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// browse opens an address as a browser does, and gives the address that it ends at. Where that is gatehouse's, come
// says whether it comes to it.
func browse(t *testing.T, address string, come bool) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	end := ""
	client := &http.Client{
		Jar: jar, Timeout: time.Minute, CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 10 {
				return fmt.Errorf("redirected to %s, without an end", req.URL)
			}
			if end = req.URL.String(); !come && req.URL.Path == "/callback" {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s: %s", resp.Status, text)
	}
	return end
}

// logIn logs in to the server files; edit changes the address that a person pastes; nil: the browser comes back by
// itself.
func logIn(t *testing.T, store mcp.Logins, entry mcp.Server, edit func(end string) string) (mcp.LoggedIn, error) {
	t.Helper()
	out, said := io.Pipe()
	var paste io.Reader
	in, pasted := io.Pipe()
	if edit != nil {
		paste = in
	}
	type result struct {
		made mcp.LoggedIn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		made, err := mcp.Config{Servers: []mcp.Server{entry}}.Login(t.Context(), entry.Name, store, said, paste)
		_ = said.Close()
		done <- result{made, err}
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		address := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(address, "http") {
			continue
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
		end := browse(t, address, edit == nil)
		if edit != nil {
			fmt.Fprintln(pasted, edit(end))
			_ = pasted.Close()
		}
		break
	}
	r := <-done
	return r.made, r.err
}

// unedited pastes the address as it is.
func unedited(end string) string { return end }

func TestALoginIsTakenWhileServersRun(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.authorizationServer()
	store := database(t, filepath.Join(t.TempDir(), "db"))
	entry := mcp.Server{Name: "files", URL: g.url}
	first := run(t, mcp.Options{Logins: store}, entry)
	if reason := first.Report()[0].Reason; !strings.Contains(reason, "run gatehouse mcp login files") {
		t.Errorf("the admin reads %q", reason)
	}
	err := first.Missing("files.echo")
	if text := core.MessageOf(err); !strings.Contains(text, "files needs a new login by an admin") ||
		strings.Contains(text, "mcp login") {
		t.Errorf("a person reads %q", text)
	}
	if _, err := logIn(t, store, entry, nil); err != nil {
		t.Fatal(err)
	}
	first.await("the MCP server runs", 1)
	second := run(t, mcp.Options{Logins: store}, entry)
	both := []*running{first, second}
	g.get("/test/forget?AccessToken") // both have to renew it
	done := make(chan error, len(both))
	for _, r := range both {
		go func() {
			_, err := r.call("files.echo", `{"a":1}`)
			done <- err
		}()
	}
	for range both {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	token := g.token.Load().(string)
	if text, err := first.call("files.echo", `{"a":"`+token+`"}`); err != nil || strings.Contains(text, token) ||
		!strings.Contains(text, "••••••") {
		t.Errorf("the server says %q, %v", text, err)
	}
	if got := g.get("/test/count"); got != "1" {
		t.Errorf("the token was renewed %s times", got)
	}

	stored, err := store.Get(t.Context(), "mcp.login/files")
	if err != nil || stored == "" || strings.Contains(stored, "access_token") {
		t.Errorf("%q is stored, %v", stored, err)
	}
	g.get("/test/forget")
	if _, err := first.call("files.write", `{}`); core.CategoryOf(err) != core.ToolFailed ||
		!strings.Contains(core.MessageOf(err), "needs a new login by an admin") {
		t.Errorf("%v", err)
	}
	first.await("its tokens are dropped; run gatehouse mcp login files", 1)
	if _, err := second.call("files.write", `{}`); core.CategoryOf(err) != core.ToolFailed ||
		!strings.Contains(core.MessageOf(err), "needs a new login by an admin") {
		t.Errorf("%v", err)
	}
	second.await("run gatehouse mcp login files", 1)
	if strings.Contains(second.log.String(), "tokens are dropped") {
		t.Error("both processes used the refresh token")
	}
	if reason := second.Report()[0].Reason; !strings.Contains(reason, "ended the login") {
		t.Errorf("the admin reads %q", reason)
	}
	if _, err := logIn(t, store, entry, nil); err != nil {
		t.Fatal(err)
	}
	second.await("the MCP server runs", 2)
	if _, err := second.call("files.echo", `{}`); err != nil {
		t.Error(err)
	}
}

func TestALoginIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.authorizationServer("TOKEN_SECONDS=20") // which is less than gatehouse wants to have left
	store := database(t, filepath.Join(t.TempDir(), "db"), "the first secret key")
	entry := mcp.Server{Name: "files", URL: g.url, OAuth: &mcp.OAuth{ID: "by-hand", Secret: "the-secret-of-by-hand"}}
	if _, err := logIn(t, store, entry, unedited); err != nil {
		t.Fatal(err)
	}
	r := run(t, mcp.Options{Logins: store}, entry)
	if _, err := r.call("files.echo", `{}`); err != nil {
		t.Error(err)
	}
	if got := g.get("/test/count"); got == "0" {
		t.Error("the token was not renewed")
	}
}

func TestALoginOutlivesItsSecretKey(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.authorizationServer()
	file := filepath.Join(t.TempDir(), "db")
	entry := mcp.Server{Name: "files", URL: g.url}
	if _, err := logIn(t, database(t, file), entry, unedited); err != nil { // under the database's own key
		t.Fatal(err)
	}
	for _, keys := range [][]string{
		{"the first secret key"}, {"the second secret key", "the first secret key"}, {"the second secret key"},
	} {
		r := run(t, mcp.Options{Logins: database(t, file, keys...)}, entry)
		if report := r.Report()[0]; !report.Running {
			t.Fatalf("with %q: %s", keys, report.Reason)
		}
	}
	r := run(t, mcp.Options{Logins: database(t, file, "a third secret key")}, entry)
	if reason := r.Report()[0].Reason; !strings.Contains(reason,
		"a secret key that gatehouse does not have; run gatehouse mcp login files") {
		t.Errorf("with a foreign key: %q", reason)
	}
	moved := entry
	moved.URL += "?at=elsewhere"
	r = run(t, mcp.Options{Logins: database(t, file, "the second secret key")}, moved)
	if reason := r.Report()[0].Reason; !strings.Contains(reason, "another URL") {
		t.Errorf("with another URL: %q", reason)
	}
}

func TestATokenForAnotherServerIsNotStored(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.authorizationServer("AUDIENCE=https://elsewhere.example/mcp")
	store := database(t, filepath.Join(t.TempDir(), "db"))
	_, err := logIn(t, store, mcp.Server{Name: "files", URL: g.url}, nil)
	if !strings.Contains(core.MessageOf(err), "invalid_token: the token is for https://elsewhere.example/mcp") {
		t.Errorf("%v", err)
	}
	if stored, err := store.Get(t.Context(), "mcp.login/files"); stored != "" || err != nil {
		t.Errorf("%q is stored, %v", stored, err)
	}
}

func TestALoginThatMayBeStolenIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(meta map[string]any)
		paste  func(end string) string
		says   string
	}{
		"another state": {paste: func(end string) string {
			return strings.Replace(end, "state=", "state=x", 1)
		}, says: "No address of this login was pasted"},
		"another issuer answers": {paste: func(end string) string {
			return end + "&iss=https%3A%2F%2Fevil.example"
		}, says: "somebody may be trying to steal"},
		"no issuer answers": {change: func(meta map[string]any) {
			meta["authorization_response_iss_parameter_supported"] = true
		}, says: "somebody may be trying to steal"},
		"an answer without a code": {paste: func(end string) string {
			return strings.Replace(end, "code=", "cod=", 1)
		}, says: "answered without a code"},
		"a refusal": {paste: func(end string) string {
			return end + "&error=access_denied&error_description=no%0A"
		}, says: `refused the login (access_denied: no\n)`},
		"metadata of another": {change: func(meta map[string]any) {
			meta["issuer"] = "https://evil.example"
		}, says: "can't be used"},
		"an address that is read backwards": {change: func(meta map[string]any) {
			meta["authorization_endpoint"] = meta["issuer"].(string) + "/authorize?a=\u202emoc.live"
		}, says: "can't be seen"},
		"no PKCE": {change: func(meta map[string]any) {
			meta["code_challenge_methods_supported"] = []string{"plain"}
		}, says: "no PKCE with S256"},
		"a token in the clear": {change: func(meta map[string]any) {
			meta["token_endpoint"] = "http://login.example/token"
		}, says: "can't be used"},
		"no registration": {change: func(meta map[string]any) {
			delete(meta, "registration_endpoint")
		}, says: `write its "client_id" into "oauth" of the entry files`},
		"no metadata": {change: func(meta map[string]any) { clear(meta) }, says: "offers no login"},
		"a redirect elsewhere": {change: func(meta map[string]any) {
			meta["token_endpoint"] = meta["issuer"].(string) + "/away"
		}, says: "gave no token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				t.Errorf("another origin got %s", r.URL)
			}))
			t.Cleanup(other.Close)
			var h *httptest.Server
			h = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				meta := map[string]any{
					"issuer": h.URL, "authorization_endpoint": h.URL + "/authorize", "token_endpoint": h.URL + "/token",
					"registration_endpoint":            h.URL + "/register",
					"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
					"jwks_uri": h.URL + "/keys",
				}
				if c.change != nil {
					c.change(meta)
				}
				switch {
				case strings.HasPrefix(r.URL.Path, "/.well-known/") && len(meta) > 0:
					answer(w, meta)
				case r.URL.Path == "/register":
					w.WriteHeader(http.StatusCreated)
					answer(w,
						map[string]any{
							"client_id": "c", "redirect_uris": []string{"http://127.0.0.1/callback"},
							"token_endpoint_auth_method": "none",
						})
				case r.URL.Path == "/authorize":
					http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=c&state="+r.URL.Query().Get("state"),
						http.StatusFound)
				case r.URL.Path == "/away":
					http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(h.Close)
			g.issuer.Store(h.URL)
			if c.paste == nil {
				c.paste = unedited
			}
			store := database(t, filepath.Join(t.TempDir(), "db"))
			_, err := logIn(t, store, mcp.Server{Name: "files", URL: g.url}, c.paste)
			if !strings.Contains(core.MessageOf(err), c.says) {
				t.Errorf("%v", err)
			}
			if stored, err := store.Get(t.Context(), "mcp.login/files"); stored != "" || err != nil {
				t.Errorf("%q is stored, %v", stored, err)
			}
		})
	}
}

// TestALoginForAWholeOrigin: many servers call themselves by their origin in their metadata, not by the URL in an
// entry. One that calls itself by another origin is refused.
func TestALoginForAWholeOrigin(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"": "", "/": "", "/mcp": "", "/other": "can't be used", "//other.example": "can't be used",
	} {
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			var h *httptest.Server
			called, asked := "", ""
			h = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/meta":
					answer(w, map[string]any{"resource": called, "authorization_servers": []string{h.URL}})
				case "/.well-known/oauth-authorization-server":
					answer(w, map[string]any{
						"issuer": h.URL, "authorization_endpoint": h.URL + "/authorize",
						"token_endpoint": h.URL + "/token", "code_challenge_methods_supported": []string{"S256"},
					})
				case "/authorize":
					http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=c&state="+r.URL.Query().Get("state"),
						http.StatusFound)
				case "/token":
					asked = r.FormValue("resource")
					answer(w, map[string]any{"access_token": "t", "token_type": "Bearer"})
				case "/mcp":
					if r.Header.Get("Authorization") == "" {
						w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+h.URL+`/meta"`)
						w.WriteHeader(http.StatusUnauthorized)
					}
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(h.Close)
			if called = h.URL + resource; strings.HasPrefix(resource, "//") {
				called = "http:" + resource
			}
			store := database(t, filepath.Join(t.TempDir(), "db"))
			_, err := logIn(t, store, mcp.Server{Name: "files", URL: h.URL + "/mcp", OAuth: &mcp.OAuth{ID: "c"}},
				unedited)
			switch {
			case strings.HasPrefix(want, "can't"):
				if !strings.Contains(core.MessageOf(err), want) {
					t.Errorf("%v", err)
				}
			case err != nil || asked != called:
				t.Errorf("a token for %q was asked for: %v", asked, err)
			}
		})
	}
}

// TestALoginThatFailsTellsNoSecretOfItsEntry: the URL that can't be reached may hold one, and so may what an
// authorization server sends back.
func TestALoginThatFailsTellsNoSecretOfItsEntry(t *testing.T) {
	t.Parallel()
	var h *httptest.Server
	h = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			answer(w, map[string]any{
				"issuer": h.URL, "authorization_endpoint": h.URL + "/authorize", "token_endpoint": h.URL + "/token",
				"code_challenge_methods_supported":      []string{"S256"},
				"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
			})
		case "/authorize":
			http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?code=c&state="+r.URL.Query().Get("state"),
				http.StatusFound)
		case "/token":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(
				map[string]string{
					"error": "invalid_client", "error_description": r.FormValue("client_secret") + " is wrong",
				})
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(h.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	for address, says := range map[string]string{
		h.URL + "/mcp": "•••••• is wrong", gone.URL + "/mcp?api_key=s3cr3t-of-the-url": "can't be reached",
	} {
		store := database(t, filepath.Join(t.TempDir(), "db"))
		_, err := logIn(t, store,
			mcp.Server{Name: "files", URL: address, OAuth: &mcp.OAuth{ID: "c", Secret: "s3cr3t-of-c"}}, unedited)
		if err == nil || core.CategoryOf(err) != core.Invalid || strings.Contains(err.Error(), "s3cr3t") ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v", err)
		}
	}
}

// TestALoginIsRefusedInOneLine: the page that a wall answers a registration with is not printed whole, and does nothing
// to a terminal.
func TestALoginIsRefusedInOneLine(t *testing.T) {
	t.Parallel()
	var h *httptest.Server
	h = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/oauth-authorization-server":
			answer(w, map[string]any{
				"issuer": h.URL, "authorization_endpoint": h.URL + "/a", "token_endpoint": h.URL + "/t",
				"registration_endpoint": h.URL + "/r", "code_challenge_methods_supported": []string{"S256"},
			})
		case "/r":
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<html>\x1b]0;title\a\n"+strings.Repeat("denied\n", 10000))
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(h.Close)
	_, err := logIn(t, database(t, filepath.Join(t.TempDir(), "db")), mcp.Server{Name: "files", URL: h.URL + "/mcp"},
		unedited)
	if err == nil || len(err.Error()) > 3000 || strings.ContainsAny(err.Error(), "\x1b\a\n") ||
		!strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("%v", err)
	}
}

func TestAnEntrySaysHowToLogIn(t *testing.T) {
	lookup := func(name string) (string, bool) { return "s3cr3t-value", name == "SECRET" }
	text := `{"mcpServers": {
		"a": {"url": "https://a.example", "oauth": {}},
		"b": {"url": "https://b.example", "oauth": {
			"client_id": "c", "client_secret_env": "SECRET", "scopes": ["x", "y"], "authority": 1}},
		"c": {"url": "https://c.example", "oauth": {}, "headers": {"authorization": "Bearer x"}},
		"d": {"command": "d", "oauth": {}}}}`
	cfg, faults := mcp.Parse([]byte(text), lookup)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if o := cfg.Servers[1].OAuth; cfg.Servers[0].OAuth == nil || o.ID != "c" || o.Secret != "s3cr3t-value" ||
		len(o.Scopes) != 2 {
		t.Errorf("%+v", o)
	}
	for i, says := range []string{
		`"authority" in "oauth" is ignored`, `"oauth" is ignored: "headers" have "Authorization"`,
		`"oauth" is ignored: it is started by a command`,
	} {
		if i >= len(cfg.Warnings) || !strings.Contains(cfg.Warnings[i], says) {
			t.Errorf("%q is not in %q", says, cfg.Warnings)
		}
	}
	for name, says := range map[string]string{
		"c": "Remove it there first", "d": "nobody logs in to it", "e": "There is no MCP server e",
	} {
		if _, err := cfg.Login(t.Context(), name, nil, io.Discard, nil); !strings.Contains(core.MessageOf(err), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for oauth, says := range map[string]string{
		`true`: "must be an object",
		`{"client_id": "c", "client_secret_env": "OTHER"}`: "must be the name of a variable that is set",
		`{"client_secret_env": "SECRET"}`:                  `has a "client_secret_env" and no "client_id"`,
	} {
		_, faults := mcp.Parse([]byte(`{"mcpServers": {"a": {"url": "https://a.example", "oauth": `+oauth+`}}}`),
			lookup)
		if len(faults) != 1 || !strings.Contains(faults[0], says) {
			t.Errorf("%s: %q", oauth, faults)
		}
	}
}
