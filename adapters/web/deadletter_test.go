package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestASessionLeadsToWhatItDid: to its turns, their approvals and posts, in words, and with nothing that was said.
func TestASessionLeadsToWhatItDid(t *testing.T) {
	s := newSite(t)
	session := core.SessionID("openharness:oh/ann/web@1")
	s.views.sessions = []core.SessionSummary{{ID: session, Messages: 2, CreatedAt: noon, UpdatedAt: noon}}
	s.views.events = []core.EventRecord{{
		Event: core.Event{
			Conversation: session.Conversation(), Body: core.MessageEvent{}, Payload: []byte(`"the text of a message"`),
			Actor: core.Actor{ID: "openharness:ann", Name: "ann"},
		},
		Seq: 7, Session: session, Invocation: "i7", AcceptedAt: noon, EndedAt: noon,
		End: core.End{Kind: core.EndReplied},
	}}
	s.views.dead = []core.OutboxRow{
		{Post: core.Post{Event: 7, Text: "the text of a reply"}, Seq: 9, State: core.RowUnknown},
	}
	page := "/sessions?id=openharness%3Aoh%2Fann%2Fweb%401"
	expect(t, s.get("root", "/sessions"), http.StatusOK, `href="`+page+`"`, ">ann on the web (web)</a>")
	expect(t, s.get("root", page), http.StatusOK, "<h1>ann on the web (web)</h1>", `title="openharness:ann">ann<`,
		"answered", `<a href="/queue?post=9">may not have arrived</a>`, "!the text of a")
	expect(t, s.get("root", "/sessions?id=nothing"), http.StatusNotFound, "There is no page at this address,")
}

// TestDeadLettersAreDealtWithOnThePage: after a question, without JavaScript, and by an admin alone.
func TestDeadLettersAreDealtWithOnThePage(t *testing.T) {
	s := newSite(t)
	s.views.events = []core.EventRecord{{
		Event: core.Event{Conversation: "slack:T1/C9", Body: core.MessageEvent{}}, Seq: 99,
		EndedAt: noon, End: core.End{Kind: core.EndDead, Cause: "three processes died"},
	}}
	s.views.dead = []core.OutboxRow{{Post: core.Post{Conversation: "slack:T1/C9"}, Seq: 41, State: core.RowDead}}
	expect(t, s.get("root", "/queue"), http.StatusOK, `href="/queue?turn=99"`, `href="/queue?post=41"`)
	expect(t, s.get("root", "/queue?turn=99"), http.StatusOK, "Shall it be tried again?", `name="turn" value="99"`)
	expect(t, s.get("root", "/queue?post=41"), http.StatusOK, "Shall it be sent again?", `name="post" value="41"`)
	expect(t, s.get("root", "/queue?turn=98"), http.StatusNotFound)
	for _, c := range [][]string{
		{"retry 99", "turn=99", "choice=retry"}, {"resend 41", "post=41", "choice=retry"},
		{"drop 99", "turn=99", "choice=discard"}, {"drop post 41", "post=41", "choice=discard"},
	} {
		if w := s.post("ann", "/queue", c[1:]...); w.Code != http.StatusNotFound || len(s.views.mended) > 0 {
			t.Errorf("ann: %d, %q", w.Code, s.views.mended)
		}
		forged := s.request("root", http.MethodPost, "/queue", nil, "Origin: https://elsewhere.example")
		if w := s.do(forged); w.Code != http.StatusForbidden || len(s.views.mended) > 0 {
			t.Errorf("from another site: %d, %q", w.Code, s.views.mended)
		}
		w := s.post("root", "/queue", c[1:]...)
		to := w.Header().Get("Location")
		if !slices.Equal(s.views.mended, c[:1]) || !strings.HasPrefix(to, "/queue?done=") {
			t.Errorf("%q: %d to %q, %q", c, w.Code, to, s.views.mended)
		}
		expect(t, s.get("root", to), http.StatusOK, `role="status"`)
		s.views.mended = nil
	}
	expect(t, s.post("root", "/queue", "turn=99", "choice=else"), http.StatusBadRequest)
}
