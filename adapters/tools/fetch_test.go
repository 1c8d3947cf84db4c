package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"gatehouse/adapters/tools"
	"gatehouse/core"
)

func hosts(t *testing.T, list ...string) tools.Hosts {
	t.Helper()
	h, err := tools.ParseHosts(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// serve starts a server and gives its address, HOST:PORT.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func fetch(ctx context.Context, h tools.Hosts, address string) (string, error) {
	args, _ := json.Marshal(map[string]string{"url": address})
	return tools.Fetch(h).Do(ctx, "k", args)
}

func TestOnlyListedHostsAreFetched(t *testing.T) {
	h := hosts(t, "example.com", "*.example.org", "example.net:8443", "localhost")
	for address, want := range map[string]string{
		"https://other.example/":            "not among the hosts",
		"https://sub.example.com/":          "not among the hosts",
		"https://example.org/":              "not among the hosts",
		"https://badexample.org/":           "not among the hosts",
		"https://example.com:8443/":         "not among the hosts",
		"https://example.net/":              "not among the hosts",
		"https://example.com.evil.example/": "not among the hosts",
		"https://example.com@evil.example/": "before @",
		"ftp://example.com/":                "no address that can be fetched",
		"file:///etc/passwd":                "no address that can be fetched",
		"example.com":                       "no address that can be fetched",
		"http://":                           "no address that can be fetched",
		"http://exa mple.com/":              "no address",
	} {
		if _, err := fetch(t.Context(), h, address); core.CategoryOf(err) != core.ToolArguments ||
			!strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A host without its port in the list is not reached at a private address, whatever its name says; a listed port is the
// admin's word.
func TestPrivateAddressesAreNotReached(t *testing.T) {
	reached := 0
	at := serve(t, func(http.ResponseWriter, *http.Request) { reached++ })
	for _, address := range []string{
		"http://localhost/", "http://127.0.0.1/", "http://[::ffff:127.0.0.1]/",
		"http://169.254.169.254/latest/meta-data/",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fetch(t.Context(), hosts(t, u.Hostname()), address)
		if core.CategoryOf(err) != core.ToolFailed || !strings.Contains(core.MessageOf(err), "so it was not reached") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := fetch(t.Context(), hosts(t, "169.254.169.254:80"),
		"http://169.254.169.254/"); !strings.Contains(core.MessageOf(err), "reserved or link-local") {
		t.Errorf("link-local: %v", err)
	}
	if _, err := fetch(t.Context(), hosts(t, at), "http://"+at+"/"); err != nil || reached != 1 {
		t.Errorf("with its port: %v, reached %d times", err, reached)
	}
}

func TestRedirectsAreCheckedLikeAddresses(t *testing.T) {
	inner := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("it was reached") })
	to := ""
	outer := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/end":
			_, _ = fmt.Fprint(w, "the end")
		case "/once":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	_, port, _ := strings.Cut(inner, ":")
	h := hosts(t, outer, "localhost", "127.0.0.2")
	if got, err := fetch(t.Context(), h, "http://"+outer+"/once"); err != nil || got != "the end" {
		t.Errorf("%q, %v", got, err)
	}
	for where, want := range map[string]string{
		"http://" + inner + "/": "not among the hosts", "http://localhost:" + port + "/": "not among the hosts",
		"http://127.0.0.2/":  "private address",
		"file:///etc/passwd": "no address that can be fetched",
	} {
		to = where
		if _, err := fetch(t.Context(), h, "http://"+outer+"/away"); err == nil ||
			!strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: %v", where, err)
		}
	}
	if _, err := fetch(t.Context(), h, "http://"+outer+"/round"); !strings.Contains(core.MessageOf(err),
		"more than 5 times") {
		t.Errorf("%v", err)
	}
}

func TestOnlyTextsOfALimitedSizeAreFetched(t *testing.T) {
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/huge":
			for range 1 << 12 { // 16 MiB, if somebody reads them
				if _, err := w.Write([]byte(strings.Repeat("ä", 2<<10))); err != nil {
					return
				}
			}
		case "/image":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte("\x89PNG"))
		case "/binary":
			w.Header()["Content-Type"] = nil
			_, _ = w.Write([]byte{0, 1, 2, 3})
		case "/latin":
			w.Header().Set("Content-Type", "text/plain; charset=iso-8859-1")
			_, _ = w.Write([]byte("Gr\xfc\xdfe"))
		case "/empty":
			w.WriteHeader(http.StatusNoContent)
		case "/lost":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		default:
			http.Error(w, "no such page:\n"+r.URL.Path, http.StatusNotFound)
		}
	})
	h := hosts(t, at)
	get := func(path string) (string, error) { return fetch(t.Context(), h, "http://"+at+path) }
	huge, err := get("/huge")
	if err != nil || len(huge) > 64<<10 || len(huge) < 63<<10 ||
		!strings.HasSuffix(huge, "ä\n[The rest was cut: the output has more than 65536 bytes.]") {
		t.Errorf("%d bytes, %v", len(huge), err)
	}
	if r := runs(t, tools.Fetch(h), `{"url":"http://`+at+`/huge"}`); r.Content != huge || r.Whole == "" || r.Miscut {
		t.Errorf("%d bytes, the whole is %q, miscut %t", len(r.Content), r.Whole, r.Miscut)
	}
	for path, want := range map[string]string{"/latin": "Grüße", "/empty": ""} {
		if got, err := get(path); err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{
		"/image":   "127.0.0.1 answered with image/png, which is no text.",
		"/binary":  "127.0.0.1 answered with application/octet-stream, which is no text.",
		"/missing": at + " answered with 404 Not Found: no such page: /missing",
		"/lost":    "The connection to " + at + " was lost before its answer was complete.",
	} {
		if _, err := get(path); core.CategoryOf(err) != core.ToolFailed || core.MessageOf(err) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := fetch(stopped, h, "http://"+at+"/"); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := fetch(t.Context(), hosts(t, "127.0.0.1:1"),
		"http://127.0.0.1:1/?q=secret"); core.MessageOf(err) != "127.0.0.1:1 could not be reached." {
		t.Errorf("%v", err)
	}
}
