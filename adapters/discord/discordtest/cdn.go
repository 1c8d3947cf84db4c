package discordtest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// Download is the route name of a download from the CDN, in the log of calls and in faults.
const Download = "(download)"

// storedFile is a file of the CDN.
type storedFile struct {
	data []byte
	kind string
}

// AddFile keeps the bytes of a file that a message names by its address, for [WithFields], and returns the address.
func (s *Server) AddFile(name, kind string, data []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.storeFile("/attachments/1/"+s.newID()+"/"+name, Attachment{ContentType: kind, Data: data})
}

// LinkLifetime is how long the address of a file is valid. Reading its message again returns a new one.
const LinkLifetime = 24 * time.Hour

// signed returns an address of the fake's CDN with a new expiry.
func (s *Server) signed(address string) string {
	now := s.o.Now()
	address, _, _ = strings.Cut(address, "?")
	return fmt.Sprintf("%s?ex=%x&is=%x&hm=%s", address, now.Add(LinkLifetime).Unix(), now.Unix(), wire.Secret())
}

// isLive reports whether an address is signed and has not expired.
func (s *Server) isLive(query url.Values) bool {
	until, err := strconv.ParseInt(query.Get("ex"), 16, 64)
	return err == nil && query.Get("hm") != "" && s.o.Now().Unix() < until
}

// serveFile answers a download. It needs no token, since the address itself is the secret. A token in the request is a
// leak; the log shows it.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	call := fakeserver.Begin(&s.Record, s.callOf(Download, r))
	if call.Before(w, r) {
		return
	}
	s.mu.Lock()
	f := s.files[r.URL.Path]
	s.mu.Unlock()
	if f == nil || !s.isLive(r.URL.Query()) {
		call.Finish(http.StatusNotFound, nil)
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	call.Finish(http.StatusOK, nil)
	w.Header().Set("Content-Type", f.kind)
	_, _ = w.Write(f.data)
}

var discordHosts = []string{
	"discord.com", "canary.discord.com", "ptb.discord.com", "discordapp.com", "cdn.discordapp.com",
	"media.discordapp.net",
}

// Transport redirects requests for Discord's hosts to the fake, by the given round tripper or the default one if that
// is nil. Requests to the fake itself pass; all others fail, so that a test never leaves the machine.
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
