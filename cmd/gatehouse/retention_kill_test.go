package main

import (
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
)

// TestPrunedSessionsSurviveKills: a process that prunes old sessions is killed before and after its transactions; the
// next one goes on, and in the end nothing of them is left, what is younger is there, and a late repeat is known.
func TestPrunedSessionsSurviveKills(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		w := e.workbench(t, "GATEHOUSE_LISTEN=127.0.0.1:0", "GATEHOUSE_AGENT=echo", "GATEHOUSE_RETENTION_SESSIONS=24h")
		s := newSeeder(t.Context(), w.store)
		for n := range 4 {
			s.conversation = core.ConversationID(fmt.Sprint("console:old", n))
			for i := range 3 {
				s.said(t, fmt.Sprint("old", n, "/", i), "console:zoe", "Zoe", plum, "you said "+plum)
			}
		}
		const ago = int64(48 * time.Hour)
		asAttacker(t, w.url,
			fmt.Sprintf(`update sessions set updated_at = updated_at - %d`, ago),
			fmt.Sprintf(`update events set accepted_at = accepted_at - %d`, ago))
		s.conversation = "console:young"
		s.said(t, "young", "console:zoe", "Zoe", "still here", "you said so")
		for nth, point := range []string{"PruneSessions.after", "PruneSessions.before", "PruneSessions.after"} {
			c := w.start([]string{killKey + "=" + point, fmt.Sprintf("%s=%d", nthKey, 4+5*nth)}, "serve")
			w.until("the kill", c, c.gone)
		}
		c := w.start(nil, "serve")
		w.until("the end of the round", c, func() bool { return len(finds(everything(t, w.url), plum)) == 0 })
		sessions, err := w.store.ListSessions(t.Context(), core.SessionFilter{})
		if err != nil || len(sessions) != 1 || sessions[0].ID != "console:young@1" || sessions[0].Messages != 2 {
			t.Errorf("left: %+v, %v", sessions, err)
		}
		s.conversation = ""
		repeat := s.event("old0/0", "again")
		repeat.Conversation = "console:old0"
		if r, err := w.store.Accept(t.Context(), repeat); err != nil || r.Fresh {
			t.Errorf("a late repeat: %+v, %v", r, err)
		}
		s.conversation = "console:old0"
		if c := s.said(t, "anew", "console:zoe", "Zoe", "again", "hello again"); c.Session != "console:old0@2" {
			t.Errorf("it goes on as %s", c.Session)
		}
	})
}
