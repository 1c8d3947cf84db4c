package fakeserver

import (
	"net/http"
	"slices"
	"strings"
)

// ForeignRequest is a request to the host that is not the platform.
type ForeignRequest struct {
	Path          string
	Authorization string // a token here is a leak
}

// Foreign is a host that is not the platform, for links and redirects that lead away from it.
type Foreign struct {
	host *Host
	url  string
	seen []ForeignRequest
}

// ForeignURL returns the address of a host that is not the platform. Its host name differs from the fake's. Requests to
// it are recorded.
func (f *Foreign) ForeignURL() string {
	f.host.mu.Lock()
	defer f.host.mu.Unlock()
	if f.url == "" {
		f.url = strings.Replace(f.host.Serve(http.HandlerFunc(f.serve)), "127.0.0.1", "localhost", 1)
	}
	return f.url
}

func (f *Foreign) serve(w http.ResponseWriter, r *http.Request) {
	f.host.mu.Lock()
	defer f.host.mu.Unlock()
	f.seen = append(f.seen, ForeignRequest{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")})
	f.host.Changed()
	_, _ = w.Write([]byte("not " + f.host.Platform))
}

// ForeignRequests returns the requests to ForeignURL.
func (f *Foreign) ForeignRequests() []ForeignRequest {
	f.host.mu.Lock()
	defer f.host.mu.Unlock()
	return slices.Clone(f.seen)
}
