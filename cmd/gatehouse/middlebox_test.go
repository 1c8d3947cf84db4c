package main

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// middlebox is a proxy between a browser and gatehouse, which does to the requests of the endpoint what such proxies
// do.
type middlebox struct {
	at string

	mu      sync.Mutex
	changed chan struct{} // closed when the rest changes
	target  *url.URL
	does    map[string]string // by the method of a request; see does
	said    int               // messages
	streams int               // that are open now
}

// newMiddlebox starts a proxy that passes everything on.
func newMiddlebox(t *testing.T, target string) *middlebox {
	t.Helper()
	m := &middlebox{changed: make(chan struct{}), does: map[string]string{}}
	m.leads(target)
	server := httptest.NewServer(m)
	t.Cleanup(func() {
		m.all("pass")
		server.CloseClientConnections()
		server.Close()
	})
	m.at = server.URL
	return m
}

// to says what is done to requests of a method: "pass", "hang" (nothing is forwarded, in no direction), "buffer" (an
// answer is forwarded when it has ended), "redirect" (to a log-in), "html", or the status of a refusal.
func (m *middlebox) to(method, does string) {
	m.change(func() { m.does[method] = does })
}

func (m *middlebox) all(does string) {
	m.change(func() { m.does[http.MethodGet], m.does[http.MethodPost] = does, does })
}

// leads changes which gatehouse is behind it.
func (m *middlebox) leads(target string) {
	m.change(func() { m.target, _ = url.Parse(target) })
}

func (m *middlebox) change(what func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what()
	close(m.changed)
	m.changed = make(chan struct{})
}

// messages is how many were posted: a page has one answered once it is stored.
func (m *middlebox) messages() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.said
}

// held is how many streams are open.
func (m *middlebox) held() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.streams
}

// free waits until requests of a method are let through; false if the client leaves before.
func (m *middlebox) free(r *http.Request) bool {
	for {
		m.mu.Lock()
		hangs, changed := m.does[r.Method] == "hang", m.changed
		m.mu.Unlock()
		if !hangs {
			return true
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return false
		}
	}
}

// ServeHTTP does to a request what is to be done.
func (m *middlebox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.URL.Path, "/v1/openharness") {
		m.pass(w, r)
		return
	}
	stream := r.Method == http.MethodGet && !r.URL.Query().Has("wait")
	m.mu.Lock()
	if r.Header.Get("Prefer") == "wait=0" {
		m.said++
	}
	does := m.does[r.Method]
	if stream {
		m.streams++
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.streams--
		}()
	}
	m.mu.Unlock()
	switch does {
	case "buffer":
		whole := httptest.NewRecorder()
		m.pass(whole, r)
		maps.Copy(w.Header(), whole.Header())
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes())
	case "redirect":
		http.Redirect(w, r, "/sso/login", http.StatusFound)
	case "html":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<h1>Log in</h1>")
	case "401", "403", "413", "502":
		status := map[string]int{"401": 401, "403": 403, "413": 413, "502": 502}[does]
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<h1>"+http.StatusText(status)+"</h1>")
	default:
		m.pass(&gatedWriter{w, m, r}, r)
	}
}

func (m *middlebox) pass(w http.ResponseWriter, r *http.Request) {
	if !m.free(r) {
		return
	}
	m.mu.Lock()
	target := m.target
	m.mu.Unlock()
	proxy := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(target)
		p.Out.Host = p.In.Host
	}, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }}
	defer func() {
		broken := recover()
		if err, _ := broken.(error); broken != nil && !errors.Is(err, http.ErrAbortHandler) {
			panic(broken)
		}
	}()
	proxy.ServeHTTP(w, r)
}

// gatedWriter writes an answer while its proxy lets it through.
type gatedWriter struct {
	http.ResponseWriter
	m *middlebox
	r *http.Request
}

// Write waits until the proxy does not hang.
func (g *gatedWriter) Write(p []byte) (int, error) {
	if !g.m.free(g.r) {
		return 0, g.r.Context().Err()
	}
	return g.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (g *gatedWriter) Unwrap() http.ResponseWriter { return g.ResponseWriter }
