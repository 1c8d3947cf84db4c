package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/web"
	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// The people of the tests. Root is an admin.
var tokens = map[string]string{
	"ann": "token-of-ann-0123456789", "bob": "token-of-bob-0123456789", "root": "token-of-root-012345678",
}

const host = "gatehouse.example"

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// site is the pages with what is behind them.
type site struct {
	t       *testing.T
	gate    *access.Gate
	web     *web.Web
	mux     *http.ServeMux
	desk    *desk
	views   *views
	cookies map[string]*http.Cookie
	decided bell // by the pages
}

// newSite makes the pages. Without tokens only this machine is served.
func newSite(t *testing.T, list ...string) *site {
	t.Helper()
	if len(list) == 0 {
		list = []string{"ann=" + tokens["ann"], "bob=" + tokens["bob"], "root!=" + tokens["root"]}
	}
	parsed, err := access.ParseTokens(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := core.NewSigner("a signing key of the tests")
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return noon }
	s := &site{
		t: t, gate: access.New(access.Options{Tokens: parsed, Signer: signer, Now: now}), mux: http.NewServeMux(),
		desk: &desk{}, views: &views{}, cookies: map[string]*http.Cookie{},
	}
	s.web = web.New(web.Options{
		Gate: s.gate, Approvals: s.desk, Views: s.views, Now: now, Turns: &s.decided,
		Conversations: noConversations{},
	})
	for pattern, h := range s.web.Routes() {
		s.mux.Handle(pattern, h)
	}
	return s
}

// request makes a request of a person's browser; who "" is nobody.
func (s *site) request(who, method, path string, form url.Values, headers ...string) *http.Request {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host = host
	if method != http.MethodGet && method != http.MethodHead {
		r.Header.Set("Origin", "https://"+host)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if who != "" {
		r.AddCookie(s.cookie(who))
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	return r
}

func (s *site) cookie(who string) *http.Cookie {
	s.t.Helper()
	if s.cookies[who] == nil {
		w := httptest.NewRecorder()
		if err := s.gate.Login(w, httptest.NewRequest(http.MethodPost, "/login", nil), tokens[who]); err != nil {
			s.t.Fatal(err)
		}
		s.cookies[who] = w.Result().Cookies()[0]
	}
	return s.cookies[who]
}

func (s *site) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, r)
	return w
}

func (s *site) get(who, path string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.do(s.request(who, http.MethodGet, path, nil, headers...))
}

// post sends a form of a page that the person has loaded: fields are "name=value".
func (s *site) post(who, path string, fields ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	form := url.Values{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		form.Add(name, value)
	}
	r := s.request(who, http.MethodGet, path, nil)
	p, err := s.gate.Identify(r)
	if err != nil {
		s.t.Fatal(err)
	}
	form.Set(access.FormField, s.gate.FormToken(p, r))
	if !form.Has(access.PageField) {
		form.Set(access.PageField, p.Name)
	}
	return s.do(s.request(who, http.MethodPost, path, form))
}

// expect checks a status and texts that the page has; one after "!" is not in it.
func expect(t *testing.T, w *httptest.ResponseRecorder, status int, texts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("status %d, want %d: %s", w.Code, status, excerpt(w.Body.String()))
	}
	for _, text := range texts {
		unwanted, not := strings.CutPrefix(text, "!")
		if found := strings.Contains(w.Body.String(), cmp.Or(unwanted, text)); found == not {
			t.Errorf("%q is in the page: %v\n%s", text, found, excerpt(w.Body.String()))
		}
	}
}

func excerpt(page string) string {
	_, main, _ := strings.Cut(page, "<main")
	return main[:min(len(main), 3000)]
}

// desk keeps approvals, and decides by the real rules.
type desk struct {
	all   []core.Approval
	runs  map[core.ApprovalID]*core.IntentRecord
	fault error
	again []core.ApprovalID // what was asked again
}

func (d *desk) List(_ context.Context, f core.ApprovalFilter) (found []core.Approval, err error) {
	before := f.Before == ""
	for _, a := range slices.Backward(d.all) {
		if before && fits(a, f) && (f.Limit == 0 || len(found) < f.Limit) {
			found = append(found, a)
		}
		before = before || a.ID == f.Before
	}
	return found, d.fault
}

// fits reports whether an approval is one of a listing.
func fits(a core.Approval, f core.ApprovalFilter) bool {
	account := f.Decider.ID
	if _, own := a.Readers()[account]; f.Decider.Local && !own {
		account = core.LocalPerson
	}
	reader, may := a.Readers()[f.Reader]
	decider := a.Readers()[account]
	waits := decider.Waits && !decider.Since.After(f.At)
	return (f.Reader == "" || may && !reader.Since.After(f.At)) &&
		(f.Decider.ID == "" || a.State == core.Open && waits != f.Others) &&
		(f.Requester == "" || f.Requester == a.Requester.ID) && f.Closed == (a.State != core.Open)
}

func (d *desk) Count(ctx context.Context, f core.ApprovalFilter) (int, error) {
	f.Before, f.Limit = "", 0
	all, err := d.List(ctx, f)
	return len(all), err
}

func (d *desk) Cards(ctx context.Context, ids []core.ApprovalID) (all []core.Card, err error) {
	for _, id := range ids {
		c, err := d.Card(ctx, id, false)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (d *desk) find(id core.ApprovalID) *core.Approval {
	for i := range d.all {
		if d.all[i].ID == id {
			return &d.all[i]
		}
	}
	return nil
}

func (d *desk) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	a := d.find(id)
	if a == nil {
		return core.Card{}, core.Errorf(core.NotFound, "There is no approval %q.", id)
	}
	return approvals.CardOf(*a, d.runs[id]), d.fault
}

func (d *desk) Vote(_ context.Context, c core.Click, who core.Actor, _ int64) (core.Decided, error) {
	a := d.find(c.Approval)
	if a == nil {
		return core.Decided{}, core.Errorf(core.NotFound, "There is no such approval.")
	}
	if c.Choice == core.Edit && a.Rule.MayDecide(who, a.Requester) {
		return d.edit(a, c, who)
	}
	decided, err := a.Decide(
		core.Decision{
			Approval: c.Approval,
			Vote: &core.Vote{
				Actor: who, Choice: c.Choice, Reason: c.Reason, Edits: c.Edits, Answer: json.RawMessage(c.Answer),
			},
		}, noon)
	if err == nil {
		*a = decided.Approval
	}
	return decided, err
}

// CheckEdit wants an object whose text has a few words.
func (d *desk) CheckEdit(_ context.Context, _ core.ApprovalID, arguments string) error {
	var all map[string]any
	if err := json.Unmarshal([]byte(arguments), &all); err != nil {
		return core.Errorf(core.Invalid, "The arguments must be a JSON object.")
	}
	if all["text"] == "nonsense" {
		return core.Wrap(core.Invalid, core.ArgumentFaults{"text": "no such thing"}, "The arguments do not fit.")
	}
	return nil
}

// edit changes the arguments, by the real rules.
func (d *desk) edit(a *core.Approval, c core.Click, who core.Actor) (core.Decided, error) {
	if err := d.CheckEdit(context.Background(), a.ID, c.Changed); err != nil {
		return core.Decided{}, err
	}
	call := a.Call
	call.Arguments = json.RawMessage(c.Changed)
	call.Digest, _ = tool.Digest(call.Tool, call.Arguments)
	decided, err := a.Decide(core.Decision{
		Approval: a.ID, Edit: &call, Vote: &core.Vote{Actor: who, Choice: core.Edit, Edits: c.Edits},
	}, noon)
	if err == nil {
		*a = decided.Approval
	}
	return decided, err
}

func (d *desk) AskAgain(_ context.Context, id core.ApprovalID, who core.Actor) (core.Receipt, error) {
	err := d.find(id).RefusalToAskAgain(who)
	if err == nil {
		d.again = append(d.again, id)
	}
	return core.Receipt{}, err
}

// open adds an open approval: bob may decide what ann asked for.
func (d *desk) open(id string, change ...func(*core.Approval)) *core.Approval {
	a := core.Approval{
		ID: core.ApprovalID(id), State: core.Open, Conversation: "openharness:oh/ann/web",
		Requester: core.Actor{ID: "openharness:ann", Name: "ann"}, CreatedAt: noon.Add(-3 * time.Minute),
		Deadline: noon.Add(2 * time.Hour),
		Call: core.Call{
			Tool: "note", Arguments: json.RawMessage(`{"text":"buy milk"}`),
			Summary: "Add the note “buy milk” (" + id + ")",
		}, Asked: core.Asked{Message: "please note milk"},
		Rule: core.Rule{Verdict: core.VerdictAsk, Approvers: []string{"openharness:bob"}},
	}
	a.Call.Digest, _ = tool.Digest(a.Call.Tool, a.Call.Arguments)
	for _, c := range change {
		c(&a)
	}
	d.all = append(d.all, a)
	return &d.all[len(d.all)-1]
}

// bell counts the nudges.
type bell int

func (b *bell) Nudge() { *b++ }

// views are what admins look at.
type views struct {
	queue    core.QueueView
	events   []core.EventRecord
	sessions []core.SessionSummary
	asked    core.SessionFilter // of the sessions, the last time
	posts    []core.OutboxRow
	dead     []core.OutboxRow
	mended   []string // what was done about dead letters
}

func (v *views) ListPosts(
	_ context.Context, states []core.RowState, _ core.ConversationID, _ int,
) ([]core.OutboxRow, error) {
	return slices.DeleteFunc(slices.Clone(v.dead), func(r core.OutboxRow) bool {
		return states != nil && !slices.Contains(states, r.State)
	}), nil
}

func (v *views) mend(what string, seq int64) error {
	v.mended = append(v.mended, fmt.Sprint(what, " ", seq))
	return nil
}

func (v *views) Retry(_ context.Context, seq int64) (core.Receipt, error) {
	return core.Receipt{}, v.mend("retry", seq)
}

func (v *views) Resend(_ context.Context, seq int64) error   { return v.mend("resend", seq) }
func (v *views) Drop(_ context.Context, seq int64) error     { return v.mend("drop", seq) }
func (v *views) DropPost(_ context.Context, seq int64) error { return v.mend("drop post", seq) }

func (v *views) IsAdmin(who core.Actor) bool { return who.ID == "openharness:root" || who.Local }

func (v *views) Queue(context.Context, int) (core.QueueView, error) { return v.queue, nil }

func (v *views) Events(_ context.Context, f core.EventFilter) ([]core.EventRecord, error) {
	found := slices.DeleteFunc(slices.Clone(v.events), func(e core.EventRecord) bool {
		return f.Ends != nil && !slices.Contains(f.Ends, e.End.Kind) || f.Seq != 0 && f.Seq != e.Seq ||
			f.Session != "" && f.Session != e.Session
	})
	if f.Limit > 0 {
		found = found[:min(len(found), f.Limit)]
	}
	return found, nil
}

func (v *views) ListSessions(_ context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	v.asked = f
	return v.sessions, nil
}

func (v *views) HeldPosts(context.Context, int) ([]core.OutboxRow, error) {
	return v.posts, nil
}

// noConversations are those of people who have said nothing.
type noConversations struct{ core.Conversations }

func (noConversations) ListConversations(context.Context, core.ConversationFilter) ([]core.Conversation, error) {
	return nil, nil
}
