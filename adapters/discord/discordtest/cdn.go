package discordtest

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Download is what a download from the CDN is called in the log of calls and in faults.
const Download = "(download)"

// storedFile is a file of the CDN.
type storedFile struct {
	data []byte
	kind string
}

// LinkLife is how long the address of a file is good for. Whoever reads its message anew gets a new one.
const LinkLife = 24 * time.Hour

// signed gives an address of the fake's CDN a new time.
func (s *Server) signed(address string) string {
	now := s.o.Now()
	address, _, _ = strings.Cut(address, "?")
	return fmt.Sprintf("%s?ex=%x&is=%x&hm=%s", address, now.Add(LinkLife).Unix(), now.Unix(), secret())
}

// isLive says whether an address is signed, and its time has not run out.
func (s *Server) isLive(query url.Values) bool {
	until, err := strconv.ParseInt(query.Get("ex"), 16, 64)
	return err == nil && query.Get("hm") != "" && s.o.Now().Unix() < until
}

// serveFile answers a download; it asks for no token, as the address itself is the secret. A token sent along is a leak that the log shows.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	call := Call{Route: Download, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), At: s.o.Now()}
	fault := s.faultFor(&call)
	place := s.logCall(call)
	if fault != nil && fault.before(w, r, s, place) {
		return
	}
	s.mu.Lock()
	f := s.files[r.URL.Path]
	s.mu.Unlock()
	if f == nil || !s.isLive(r.URL.Query()) {
		s.finishCall(place, http.StatusNotFound, nil)
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	s.finishCall(place, http.StatusOK, nil)
	w.Header().Set("Content-Type", f.kind)
	_, _ = w.Write(f.data)
}

// ForeignRequest is a request that came to the host that is not Discord.
type ForeignRequest struct {
	Path          string
	Authorization string // a token here is a leak
}

type foreignHost struct {
	base string
	seen []ForeignRequest
}

// ForeignURL is the address of a host that is not Discord, under another name than the fake's; what asks it for anything is remembered. It is
// for attachments whose URL leads away.
func (s *Server) ForeignURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign != nil {
		return s.foreign.base
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("discordtest: " + err.Error())
	}
	host := &foreignHost{base: "http://" + strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1)}
	web := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		host.seen = append(host.seen, ForeignRequest{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")})
		s.changed()
		_, _ = w.Write([]byte("not Discord"))
	})}
	s.webs = append(s.webs, web)
	s.work.Go(func() { _ = web.Serve(listener) })
	s.foreign = host
	return host.base
}

// ForeignRequests are the requests that came to ForeignURL.
func (s *Server) ForeignRequests() []ForeignRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign == nil {
		return nil
	}
	return append([]ForeignRequest{}, s.foreign.seen...)
}
