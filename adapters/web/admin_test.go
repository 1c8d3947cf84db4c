package web_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

func TestSessionsAndQueueAreForAdmins(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/sessions", "/queue", "/queue?turn=1", "/queue?post=1", "/sessions?id=a"} {
		expect(t, s.get("ann", path), http.StatusNotFound, "There is no page at this address,")
	}
	for _, path := range []string{"/sessions", "/queue"} {
		expect(t, s.get("root", path), http.StatusOK)
	}
	expect(t, s.get("ann", "/"), http.StatusOK, `!href="/queue"`)
	expect(t, s.get("root", "/"), http.StatusOK, `href="/queue"`)
	expect(t, s.get("root", "/sessions"), http.StatusOK, "There are no sessions yet.")
	expect(t, s.get("root", "/queue"), http.StatusOK, "No turns are queued.", "!Paused")
}

func TestWhatAdminsSee(t *testing.T) {
	s := newSite(t)
	s.views.sessions = []core.SessionSummary{{
		ID: "slack:T1/C1@2", Messages: 12, CreatedAt: noon.Add(-48 * time.Hour), UpdatedAt: noon.Add(-time.Minute),
	}}
	expect(t, s.get("root", "/sessions"), http.StatusOK, `title="slack:T1/C1@2"`,
		"T1/C1 on slack, begun anew: @2", ">12<",
		"2 days ago", "1 minute ago",
		`datetime="2026-11-22T11:59:00Z"`)

	secret := "xoxb-" + "123456789012-123456789012-aB3aB3aB3aB3aB3aB3aB3aB3"
	s.views.queue = core.QueueView{
		Paused: true, Posts: 4, InDoubt: 1, Approvals: 2,
		Entries: []core.QueueEntry{{
			Key: "console:default", Waiting: 3, Oldest: noon.Add(-time.Hour), Owner: "host-1",
			ReadyAt: noon.Add(5 * time.Minute),
		}, {Key: "x:y", Waiting: 1}},
	}
	s.views.posts = []core.OutboxRow{
		{
			Post: core.Post{Conversation: "slack:T1/C1", Text: "the text of a reply"}, Seq: 41,
			Cause: "refused " + secret, NextAt: noon.Add(time.Minute),
		},
	}
	s.views.events = []core.EventRecord{
		{
			Event: core.Event{Conversation: "slack:T1/C9", Payload: []byte(`"the text of a message"`)}, Seq: 99,
			EndedAt: noon.Add(-time.Hour),
			End:     core.End{Kind: core.EndDead, Category: core.Internal, Cause: "three processes died"},
		},
		{Event: core.Event{Conversation: "slack:T1/C8"}, End: core.End{Kind: core.EndReplied}},
	}
	expect(t, s.get("root", "/queue"), http.StatusOK, "Paused", "console:default", "1 hour ago", "host-1",
		"in 5 minutes", ">41<", "three processes died", "!slack:T1/C8", "!"+secret, "!the text of a")
}

// TestSessionsAreFilteredAndPaged: by a person's name on any platform or their id, by what there is of a session, and
// from one that changed at the same time as the next ones.
func TestSessionsAreFilteredAndPaged(t *testing.T) {
	s := newSite(t)
	for i := range 100 {
		s.views.sessions = append(s.views.sessions, core.SessionSummary{
			ID: core.SessionID(fmt.Sprintf("slack:T1/C%d@1", i)), UpdatedAt: noon,
		})
	}
	page := s.get("root", "/sessions?by=ann&is=asks").Body.String()
	if got := s.views.asked; !slices.Contains(got.People, "ann") || got.Standing != core.SessionAsks {
		t.Errorf("asked for %+v", got)
	}
	for _, text := range []string{`value="ann"`, `value="asks" selected`, "Remove the filter"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %s", text)
		}
	}
	older := regexp.MustCompile(`href="([^"]*)">Older ones`).FindStringSubmatch(page)
	if older == nil {
		t.Fatal("there is no link to older ones")
	}
	s.get("root", html.UnescapeString(older[1]))
	got := s.views.asked
	if !got.UpdatedBefore.Equal(noon) || got.BeforeID != "slack:T1/C99@1" || got.Standing != core.SessionAsks ||
		!slices.Contains(got.People, "ann") {
		t.Errorf("the next page asks for %+v", got)
	}
	s.views.sessions = nil
	expect(t, s.get("root", "/sessions?is=failed"), http.StatusOK, "No session fits the filter.")
}

// TestMoreRowsAreShown of the queue and of a session's turns than the first hundred.
func TestMoreRowsAreShown(t *testing.T) {
	s := newSite(t)
	for i := range 150 {
		s.views.events = append(s.views.events, core.EventRecord{
			Event: core.Event{Conversation: "slack:T1/C9"}, Session: "slack:T1/C9@1", Seq: int64(i + 1),
			EndedAt: noon, End: core.End{Kind: core.EndDead, Cause: "three processes died"},
		})
	}
	expect(t, s.get("root", "/queue"), http.StatusOK, `href="/queue?rows=200"`, "turn=100", "!turn=101")
	expect(t, s.get("root", "/queue?rows=200"), http.StatusOK, "turn=150", "!Show more")
	expect(t, s.get("root", "/sessions?id=slack:T1/C9@1"), http.StatusOK,
		`href="/sessions?id=slack%3AT1%2FC9%401&amp;rows=200"`)
}
