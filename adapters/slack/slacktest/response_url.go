package slacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// The life of a response URL.
const (
	responseURLUses     = 5
	responseURLLifetime = 30 * time.Minute
)

type responseURL struct {
	channel string
	ts      string // the message that the click was on, if any
	thread  string
	user    string
	issued  time.Time
	used    int
}

func (s *Server) newResponseURL(u responseURL) string {
	u.issued = s.o.Now()
	id := s.ids.secret()
	s.responses[id] = &u
	return s.base + "/actions/" + id
}

// serveResponseURL takes what an app posts to a response_url: five times in thirty minutes.
func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	s.mu.Lock()
	defer s.mu.Unlock()
	call := Call{Method: ResponseURL, Args: Args{}}
	call.At, call.Header, call.Body, call.Done, call.Status = s.o.Now(), r.Header.Clone(), body, true, http.StatusOK
	refuse := func(status int, code string) {
		call.Status, call.Error = status, code
		writeJSON(w, status, object{"ok": false, "error": code})
	}
	defer func() { fakeserver.Note(&s.Record, call) }()
	u := s.responses[r.PathValue("id")]
	switch {
	case u == nil, s.o.Now().Sub(u.issued) > responseURLLifetime:
		refuse(http.StatusNotFound, "expired_url")
		return
	case u.used >= responseURLUses:
		refuse(http.StatusNotFound, "used_url")
		return
	}
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(body, &fields) != nil {
		refuse(http.StatusBadRequest, "invalid_payload")
		return
	}
	for key, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		call.Args[key] = text
	}
	u.used++
	if failed := s.respond(u, call.Args); failed != nil {
		refuse(http.StatusOK, failed.code)
		return
	}
	writeJSON(w, http.StatusOK, object{"ok": true})
}

// respond does what an answer to a click or a command asks for.
func (s *Server) respond(u *responseURL, args Args) *failure {
	c := s.channels[u.channel]
	original := c.byTS[u.ts]
	ephemeral := slices.IndexFunc(c.ephemerals, func(r *record) bool { return u.ts != "" && r.TS == u.ts })
	if args.flag("delete_original") {
		if original != nil {
			s.remove(c, original, actionOptions{})
		} else if ephemeral >= 0 {
			c.ephemerals = slices.Delete(slices.Clone(c.ephemerals), ephemeral, ephemeral+1)
			s.changed()
		}
		return nil
	}
	in, failed := s.readContent(args)
	switch {
	case failed != nil:
		return failed
	case in.empty():
		return fail("no_text")
	case args.flag("replace_original") && original != nil:
		s.edit(c, original, in)
	case args.flag("replace_original") && ephemeral >= 0:
		r := c.ephemerals[ephemeral]
		m := s.message(in)
		r.Text, r.Blocks, r.derivedBlocks, r.Edits = m.Text, m.Blocks, m.derivedBlocks, r.Edits+1
		s.changed()
	case args["response_type"] == "in_channel":
		s.post(c, in, args["thread_ts"], false)
	default:
		s.addEphemeral(c, in, u.user, u.thread)
	}
	return nil
}
