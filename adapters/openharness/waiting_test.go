package openharness_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness"
	"gatehouse/core"
	"gatehouse/storage"
)

// seer is a store whose admin is root.
type seer struct{ *storage.Store }

func (seer) IsAdmin(who core.Actor) bool { return who.ID == "openharness:root" }

// told reads the stream of somebody: the lines come as they are sent.
func (s *served) told(t *testing.T, token string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http.URL+openharness.EventsPath+"?approvals=1",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // closed by the reader below
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		defer answer.Body.Close()
		for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
			if line := scan.Text(); strings.Contains(line, "data") {
				lines <- line
			}
		}
	}()
	return lines
}

// TestStreamsTellWhatWaits: whoever may decide is told within a second how many approvals wait for them, whatever
// process stored them; who may not is told nothing of these.
func TestStreamsTellWhatWaits(t *testing.T) {
	names := []string{"ann", "bob", "cleo", "eve", "root"}
	token := func(name string) string { return name + "s-token-of-many-characters" }
	list := ""
	for _, name := range names {
		list += name + "=" + token(name) + ","
	}
	tokens, err := access.ParseTokens(list)
	if err != nil {
		t.Fatal(err)
	}
	var store *storage.Store
	s := serve(t, func(o *openharness.Options) {
		store = o.Store.(*shelf).Store
		o.Approvals = seer{store}
		o.Gate = access.New(access.Options{Signer: store.Signer(), Tokens: tokens, Now: time.Now})
	})
	t.Cleanup(s.Close)
	go func() { _ = s.Engine.Run(s.ctx, nil) }()
	streams := map[string]<-chan string{}
	for _, name := range names {
		streams[name] = s.told(t, token(name))
	}
	reads := func(name, want string) {
		t.Helper()
		select {
		case got := <-streams[name]:
			if got != "data: "+want {
				t.Errorf("%s is told %s, not %s", name, got, want)
			}
		case <-time.After(time.Second):
			t.Errorf("%s is not told %s within a second", name, want)
		}
	}
	for _, name := range names {
		reads(name, `{"waiting":0}`)
	}
	open := func(id string, rule core.Rule) {
		t.Helper()
		rule.Verdict = core.VerdictAsk
		a := core.Approval{
			ID: core.ApprovalID(id), Conversation: "external:ci", Requester: core.Actor{ID: "openharness:ann"},
			State: core.Open, External: &core.External{}, Rule: rule,
		}
		if _, _, err := store.OpenExternal(t.Context(), a, nil, 10); err != nil {
			t.Fatal(err)
		}
	}
	open("one", core.Rule{Approvers: []string{"openharness:bob", "openharness:cleo"}, Quorum: 2})
	reads("bob", `{"waiting":1,"changed":["one"]}`)
	reads("cleo", `{"waiting":1,"changed":["one"]}`)
	reads("ann", `{"waiting":0,"changed":["one"]}`) // it is hers
	reads("root", `{"waiting":0,"changed":["one"]}`)
	vote := core.Decision{Approval: "one", Vote: &core.Vote{
		Actor: core.Actor{ID: "openharness:bob"}, Choice: core.Approve,
	}}
	if _, err := store.Decide(t.Context(), vote); err != nil {
		t.Fatal(err)
	}
	reads("bob", `{"waiting":0,"changed":["one"]}`)
	reads("cleo", `{"waiting":1,"changed":["one"]}`)
	select {
	case line := <-streams["eve"]:
		t.Errorf("who may not decide is told %s", line)
	default:
	}
	later := s.told(t, token("cleo"))
	if got := <-later; got != `data: {"waiting":1}` {
		t.Errorf("a later stream begins with %s", got)
	}
}

// TestNothingWaitsWithoutApprovals: an engine that can't tell refuses the parameter.
func TestNothingWaitsWithoutApprovals(t *testing.T) {
	s := serve(t)
	t.Cleanup(s.Close)
	answer, err := http.Get(s.http.URL + openharness.EventsPath + "?session=s1&approvals=1")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("the answer is %s", answer.Status)
	}
}
