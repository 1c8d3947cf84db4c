package discordtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

var discordHosts = []string{"discord.com", "canary.discord.com", "ptb.discord.com", "discordapp.com", "cdn.discordapp.com", "media.discordapp.net"}

// Transport leads what goes to Discord's hosts to the fake by a round tripper of the caller's, or the default one if that is nil. What goes to
// the fake itself goes through; what goes anywhere else fails, so that a test never leaves the machine.
func (s *Server) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return redirect{s: s, base: base}
}

type redirect struct {
	s    *Server
	base http.RoundTripper
}

// RoundTrip makes the request.
func (t redirect) RoundTrip(r *http.Request) (*http.Response, error) {
	here, err := url.Parse(t.s.base)
	if err != nil {
		return nil, err
	}
	host := r.URL.Hostname()
	switch {
	case slices.Contains(discordHosts, host):
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = here.Scheme, here.Host
	case host != "127.0.0.1" && host != "localhost":
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, fmt.Errorf("discordtest: %s is not Discord", r.URL.Host)
	}
	return t.base.RoundTrip(r)
}
