package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

var (
	csrf    = regexp.MustCompile(`name="csrf" value="([^"]+)"`)
	madeFor = regexp.MustCompile(`name="as" value="([^"]+)"`)
)

// TestAnApproverRevealsWhatThePageMasks, and the audit log says who; nobody else can, and no other site.
func TestAnApproverRevealsWhatThePageMasks(t *testing.T) {
	t.Run("of a call", func(t *testing.T) { revealing(t, nil, "Review, then approve") })
	asked := &question.Question{
		Text: "Is this the pin?", Fields: []question.Field{{Name: "answer", Title: "Answer", Kind: question.Text}},
	}
	t.Run("of a question", func(t *testing.T) { revealing(t, asked, "What was asked, with nothing hidden") })
}

// revealing has an approver reveal what was asked, and then see a page with the words then.
func revealing(t *testing.T, asked *question.Question, then string) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	store, err := storage.Open(t.Context(), sqliteFile.make(t), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	args := json.RawMessage(`{"pin":471147,"name":"cleo"}`)
	digest, err := tool.Digest("vault", args)
	if err != nil {
		t.Fatal(err)
	}
	s := newSeeder(t.Context(), store)
	err = s.turn("e1", "store it", func(c core.Claim) core.Finish {
		return core.Finish{
			End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
				Session: s.session(c, core.Message{Role: core.User, Content: core.Text("store it")}),
				Paused: &core.PausedRecord{
					Invocation: c.Event.Invocation, Session: c.Session, Descriptor: core.Descriptor{SignalID: "ap-1"},
				},
				Approval: &core.Approval{
					ID: "ap-1", Invocation: c.Event.Invocation, Session: c.Session, Conversation: seedConversation,
					Address: c.Event.Address, State: core.Open, Question: asked,
					Call:      core.Call{Tool: "vault", Arguments: args, Digest: digest, Summary: "Store it"},
					Requester: core.Actor{ID: "openharness:ann", Name: "ann"},
					Rule:      core.Rule{Verdict: core.VerdictAsk, Approvers: []string{"openharness:bob"}},
				},
			},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string]string{"ann": "token-of-ann-0123456789", "bob": "token-of-bob-0123456789"}
	t.Setenv("GATEHOUSE_TOKENS", "ann="+tokens["ann"]+",bob="+tokens["bob"])
	cfg, _, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := newGate(t.Context(), cfg, store)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range newPages(newShared(cfg, store, slog.New(slog.DiscardHandler)), gate, nil).Routes() {
		mux.Handle(pattern, h)
	}
	cookies := map[string]*http.Cookie{}
	for who, token := range tokens {
		login := httptest.NewRecorder()
		if err := gate.Login(login, httptest.NewRequest(http.MethodPost, "/login", nil), token); err != nil {
			t.Fatal(err)
		}
		cookies[who] = login.Result().Cookies()[0]
	}
	visit := func(who, method string, form url.Values, origin string) (int, string) {
		t.Helper()
		r := httptest.NewRequest(method, "/approvals/ap-1", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		r.AddCookie(cookies[who])
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const here, button = "https://example.com", "Show what is hidden"
	token := func(page string) url.Values {
		return url.Values{"choice": {"reveal"}, "edits": {"0"}, "csrf": {csrf.FindStringSubmatch(page)[1]},
			"as": {madeFor.FindStringSubmatch(page)[1]}}
	}
	_, anns := visit("ann", http.MethodGet, nil, "")
	_, bobs := visit("bob", http.MethodGet, nil, "")
	if strings.Contains(anns, button) || strings.Contains(anns+bobs, "471147") || !strings.Contains(bobs, button) ||
		asked == nil && !strings.Contains(bobs, "(6 characters hidden)") {
		t.Fatalf("ann sees\n%s\nbob sees\n%s", anns, bobs)
	}
	refused := map[string]func() (int, string){
		"who asked": func() (int, string) { return visit("ann", http.MethodPost, token(anns), here) },
		"another site": func() (int, string) {
			return visit("bob", http.MethodPost, token(bobs), "https://evil.example")
		},
		"without a token": func() (int, string) {
			return visit("bob", http.MethodPost, url.Values{"choice": {"reveal"}, "as": {"bob"}}, here)
		},
	}
	for name, try := range refused {
		if code, page := try(); code != http.StatusForbidden || strings.Contains(page, "471147") {
			t.Errorf("%s: %d\n%s", name, code, page)
		}
	}
	code, page := visit("bob", http.MethodPost, token(bobs), here)
	if code != http.StatusOK || !strings.Contains(page, "471147") || strings.Contains(page, button) ||
		!strings.Contains(page, then) {
		t.Errorf("%d\n%s", code, page)
	}
	log, err := store.AuditLog(t.Context(), 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	var revealed []string
	for _, e := range log {
		if e.Action == "revealed" {
			revealed = append(revealed, string(e.Approval)+" "+e.Actor+" "+e.Detail)
		}
	}
	if len(revealed) != 1 || revealed[0] != "ap-1 openharness:bob on the page" {
		t.Errorf("the audit log says %q", revealed)
	}
}
