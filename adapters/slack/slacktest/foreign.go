package slacktest

import (
	"net"
	"net/http"
	"strings"
	"time"
)

// ForeignRequest is a request that came to the host that is not Slack.
type ForeignRequest struct {
	Path          string
	Authorization string // a token here is a leak
}

type foreignHost struct {
	base string
	web  *http.Server
	seen []ForeignRequest
}

// ForeignURL is the address of a host that is not Slack, under another name than the fake's; what asks it for anything is remembered. It is
// for files whose url_private, or a redirect of it, leads away.
func (s *Server) ForeignURL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.foreign != nil {
		return s.foreign.base
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("slacktest: " + err.Error())
	}
	host := &foreignHost{base: "http://" + strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1)}
	host.web = &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		host.seen = append(host.seen, ForeignRequest{Path: r.URL.Path, Authorization: r.Header.Get("Authorization")})
		s.changed()
		_, _ = w.Write([]byte("not Slack"))
	})}
	s.work.Go(func() { _ = host.web.Serve(listener) })
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
