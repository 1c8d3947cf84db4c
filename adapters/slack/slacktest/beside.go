package slacktest

import (
	"net/http"

	"gatehouse/adapters/internal/fakeserver"
)

// What is called beside the methods of the Web API, as the log of calls and faults name it.
const (
	DialSocket   = "(dial)"         // the opening of a socket
	UploadFile   = "(upload)"       // the bytes of a file on their way in
	DownloadFile = "(download)"     // a file's url_private
	ResponseURL  = "(response_url)" // a post to a response_url; no faults here
)

// beside logs a request that is no call of a method, and lets it fail where that was asked for: ahead of its work only.
func (s *Server) beside(name string, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		call := fakeserver.Begin(&s.Record, Call{Method: name, Args: Args{}, Call: fakeserver.Call{At: s.o.Now(), Header: r.Header.Clone()}})
		if call.Before(w, r) {
			return
		}
		call.Finish(0, nil)
		serve(w, r)
	}
}
