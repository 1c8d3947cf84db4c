package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"gatehouse/core"
)

var errSecret = errors.New("the secret name of the database host")

const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'` + "\u202e`{{.}}"

// TestHostileTextsStayTexts: in every field that somebody else writes.
func TestHostileTextsStayTexts(t *testing.T) {
	s := newSite(t)
	hostile := func(a *core.Approval) {
		raw, _ := json.Marshal(map[string]string{attack: attack})
		a.Call.Tool, a.Call.Arguments, a.Call.Summary = attack, raw, attack
		seal(a)
		a.Asked = core.Asked{Message: attack, Dropped: attack, Place: 1, Of: 2}
		a.Changed, a.Reason = attack, attack
		a.Requester, a.Conversation = core.Actor{ID: "openharness:ann", Name: attack}, core.ConversationID(attack)
		a.Rule = core.Rule{
			Approvers: []string{"openharness:bob", "openharness:" + attack, attack}, Quorum: 2, Vetoes: 2,
		}
		a.Votes = []core.Vote{
			{Actor: core.Actor{ID: "x:1", Name: attack}, Choice: core.Edit},
			{Actor: core.Actor{ID: "x:1", Name: attack}, Choice: core.Approve, Edits: 1},
			{Actor: core.Actor{ID: "x:2", Name: attack}, Choice: core.Deny},
		}
	}
	s.desk.open("open", hostile, dangerous)
	done := s.desk.open("done", hostile, decidedBy(core.Approved, attack))
	done.Reason = attack
	s.desk.runs = map[core.ApprovalID]*core.IntentRecord{"done": {Result: &core.ToolResult{
		Category: core.Internal, Content: attack,
	}}}
	s.desk.open(attack, dangerous)
	s.views.queue = core.QueueView{
		Paused: true,
		Entries: []core.QueueEntry{{
			Key: core.QueueKey(attack), Owner: attack, Oldest: noon, ReadyAt: noon, Waiting: 1,
		}},
	}
	s.views.sessions = []core.SessionSummary{{ID: core.SessionID(attack)}}
	s.views.posts = []core.OutboxRow{{Post: core.Post{Conversation: core.ConversationID(attack)}, Cause: attack}}
	s.views.events = []core.EventRecord{{
		Event: core.Event{Conversation: core.ConversationID(attack)},
		End:   core.End{Kind: core.EndDead, Category: core.Category(attack), Cause: attack},
	}}
	for _, v := range []struct{ who, path string }{
		{"bob", "/approvals"}, {"root", "/approvals"}, {"bob", "/approvals/open"}, {"bob", "/approvals/open?review=1"},
		{"bob", "/approvals/done"}, {"bob", "/approvals?decided=done"}, {"root", "/sessions"}, {"root", "/queue"},
	} {
		w := s.get(v.who, v.path)
		expect(t, w, http.StatusOK, "alert(1)")
		root, err := html.Parse(strings.NewReader(w.Body.String()))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			ours := n.Data == "script" && strings.HasPrefix(attributes(n)["src"], "/assets/") && n.FirstChild == nil
			if n.Type == html.ElementNode && (n.Data == "script" && !ours || n.Data == "img" ||
				attributes(n)["onerror"] != "") {
				t.Errorf("%s has an element <%s>", v.path, n.Data)
			}
		}
	}
	expect(t, s.post("bob", "/approvals/open", "choice=deny", "edits=1", "reason="+attack), http.StatusSeeOther)
}

// TestAWrongIdIsOnlyAWrongId: whatever the address says.
func TestAWrongIdIsOnlyAWrongId(t *testing.T) {
	s := newSite(t)
	for _, id := range []string{"%3Cscript%3E", "..%2f..%2fetc", "%00", "a%20b"} {
		expect(t, s.get("ann", "/approvals/"+id), http.StatusNotFound, "!<script>alert")
		expect(t, s.get("ann", "/approvals?decided="+id), http.StatusOK)
	}
}

// TestNoAddressForgetsThePrefix: a proxy may have the pages under a path. Templates write addresses with at, scripts
// with that of base.js.
func TestNoAddressForgetsThePrefix(t *testing.T) {
	bare := regexp.MustCompile("(?:(?:href|src|action|formaction)=[\"']?|url=|fetch\\([`'\"]|assign\\([`'\"])/|" +
		"[`'\"]/(?:v1|login|logout|approvals|sessions|queue|assets|favicon)[^a-z]")
	fine := regexp.MustCompile(`at "/|at\([` + "`" + `'"]/`)
	for _, files := range []string{"templates/*.html", "assets/*.js", "../internal/markup/*.html"} {
		names, err := filepath.Glob(files)
		if err != nil || len(names) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "//") {
					continue
				}
				if found := bare.FindString(fine.ReplaceAllString(line, "at(")); found != "" {
					t.Errorf("%s:%d: %s has not the prefix of a proxy", name, i+1, found)
				}
			}
		}
	}
}
