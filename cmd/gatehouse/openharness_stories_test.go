package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

// heard is an event of a stream.
type heard struct {
	id    string
	reply reply
}

// text is what a person reads of it.
func (h heard) text() string {
	if failed := h.reply.Answer.Response.Error; failed != nil {
		return failed.Message
	}
	d := h.reply.Answer.Response.Directives[0]
	return d.ActionType + ": " + d.Payload.Message
}

// listen reads the stream of a session until enough holds, and returns what came.
func (s *shell) listen(session, last string, enough func(heard) bool) (all []heard) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.at+"/v1/openharness/events?session="+url.QueryEscape(session), nil)
	noErr(s.t, err)
	q.Header.Set("Authorization", "Bearer "+s.token)
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	answer, err := s.client.Do(q)
	noErr(s.t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK ||
		!strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		s.t.Fatalf("the stream was answered with %d %s", answer.StatusCode, answer.Header)
	}
	in := bufio.NewScanner(answer.Body)
	in.Buffer(nil, 1<<20)
	var h heard
	for in.Scan() {
		if id, ok := strings.CutPrefix(in.Text(), "id: "); ok {
			h.id = id
		}
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		h.reply = reply{Raw: []byte(data)}
		if err := json.Unmarshal(h.reply.Raw, &h.reply.Answer); err != nil {
			s.t.Fatalf("%v: %s", err, data)
		}
		s.valid(h.reply.Raw)
		if all = append(all, h); enough(h) {
			return all
		}
	}
	s.t.Fatalf("the stream ended with %v after %+v", in.Err(), all)
	return nil
}

// has is enough once a text came.
func has(text string) func(heard) bool {
	return func(h heard) bool { return strings.Contains(h.text(), text) }
}

// TestLaw2_AStreamReplaysWhatWasMissedOnce: a client that was away while the process was killed and somebody decided
// names the last event that it has, and gets the rest, each once, in its order. Another principal's stream of the same
// session has nothing of it.
func TestLaw2_AStreamReplaysWhatWasMissedOnce(t *testing.T) {
	t.Parallel()
	p, ann, bob, _ := newTrio(t)
	asked := make(chan reply, 1)
	go func() { asked <- ann.send(request("r1", "s1", "note add milk")) }()
	first := ann.listen("s1", "", has("request_approval"))
	ann.must(<-asked)
	last := first[len(first)-1].id
	if first[0].text() != "dev.gatehouse.said: note add milk" {
		t.Errorf("the stream begins with %q", first[0].text())
	}
	p.app.kill()
	if _, err := p.decide("approve", "bob"); err != nil {
		t.Fatal(err)
	}
	p.open()
	missed := ann.listen("s1", last, has("Done:"))
	decided := 0
	for _, h := range missed {
		if strings.HasPrefix(h.text(), "dev.gatehouse.approval") {
			decided++
		}
		if h.text() == first[0].text() || strings.HasPrefix(h.text(), "request_approval") {
			t.Errorf("%q came again", h.text())
		}
	}
	if decided == 0 {
		t.Errorf("the decision of the card was not sent: %+v", missed)
	}
	p.until("everything is told", p.app, p.settled)
	whole := ann.listen("s1", "0", has("Done:"))
	done := 0
	for _, h := range whole {
		if strings.Contains(h.text(), "Done:") {
			done++
		}
	}
	if done != 1 {
		t.Errorf("the reply came %d times", done)
	}
	bob.must(bob.send(request("r1", "s1", "hello")))
	for _, h := range bob.listen("s1", "0", has("render_message")) {
		if strings.Contains(string(h.reply.Raw), "milk") {
			t.Errorf("the stream of another principal has %s", h.reply.Raw)
		}
	}
	p.app.kill()
}

// TestAStreamRefusesWhatItCantServe names the parameter.
func TestAStreamRefusesWhatItCantServe(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	for query, field := range map[string]string{
		"?session=s1&after=x": "Last-Event-ID", "?session=s1&after=-4": "Last-Event-ID",
		"?session=" + strings.Repeat("s", 300):    "session",
		"?session_id=" + strings.Repeat("s", 300): "session", "?session=s1&session_id=s2": "session_id",
		"?session=&session_id=s1": "session_id",
		"?session=s1&session=s1":  "session", "?session=s1&session=s2": "session",
		"?session_id=s1&session_id=s1": "session_id", "?session=s1&after=1&after=1": "after",
		"?sessionid=s1": "sessionid", "?Session=s1": "Session", "?session=s1&conversation_id=c1": "conversation_id",
		"?session=s1&last_event_id=3": "last_event_id",
		"?session=s1&limit=5":         "limit", "?session=s1&html=yes": "html", "?session=s1&deltas=2": "deltas",
		"?session=s1&deltas=true": "-", "?session=s1&": "-",
		"?session=s1;after=3": "", "?session=%zz": "", "?" + strings.Repeat("x", 99) + "=1": strings.Repeat("x", 40),
		"?session=s1&html=0&deltas=0":           "-",
		"?session_id=s1&html=true&deltas=false": "-", "?session=s1&session_id=s1&conversation=&after=": "-",
	} {
		q, err := http.NewRequest(http.MethodGet, p.at+"/v1/openharness/events"+query, nil)
		noErr(t, err)
		q.Header.Set("Authorization", "Bearer "+ann.token)
		answer, err := ann.client.Do(q)
		noErr(t, err)
		if field == "-" { // it is served
			if answer.Body.Close(); answer.StatusCode != http.StatusOK {
				t.Errorf("%.40s: %d", query, answer.StatusCode)
			}
			continue
		}
		var got reply
		err = json.NewDecoder(answer.Body).Decode(&got.Answer)
		if answer.Body.Close(); err != nil || answer.StatusCode != http.StatusBadRequest ||
			got.code() != "invalid_request" {
			t.Fatalf("%.40s: %d, %v", query, answer.StatusCode, err)
		}
		if named, _ := got.Answer.Response.Error.Details["field"].(string); named != field {
			t.Errorf("%.40s: the field is %q, want %q", query, named, field)
		}
	}
	p.app.kill()
}

// TestAStreamHasTwoNamesForItsSession: session_id leads to the same events as session does.
func TestAStreamHasTwoNamesForItsSession(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	ann.must(ann.send(request("r1", "", "this is of the default session")))
	ann.must(ann.send(request("r2", "s1", "hello")))
	q, err := http.NewRequest(http.MethodGet, p.at+"/v1/openharness/events?session_id=s1", nil)
	noErr(t, err)
	q.Header.Set("Authorization", "Bearer "+ann.token)
	answer, err := ann.client.Do(q)
	noErr(t, err)
	defer answer.Body.Close()
	in := bufio.NewScanner(answer.Body)
	for in.Scan() && !strings.HasPrefix(in.Text(), "data: ") {
	}
	if !strings.Contains(in.Text(), `"hello"`) {
		t.Errorf("the stream of session_id=s1 begins with %q", in.Text())
	}
	p.app.kill()
}

// TestWhatHidesSomethingIsReviewedFirst: a card that hides part of a call has no token that approves; the second step
// has.
func TestWhatHidesSomethingIsReviewedFirst(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	card := ann.must(
		ann.send(request("r1", "s1", "note add xoxb-"+"123456789012-123456789012-"+strings.Repeat("aB3", 8)))).card()
	if card.choice("approve").Token != "" || card.choice("review").Token == "" || card.choice("deny").Token == "" {
		t.Fatalf("the choices: %+v", card.Payload.Choices)
	}
	review := ann.must(ann.send(with(request("r2", "s1", ""), card.choice("review"))))
	if len(p.notesOf("ann", "s1")) != 0 || review.card().choice("approve").Token == "" {
		t.Fatalf("the review: %s", review.Raw)
	}
	done := ann.must(ann.send(with(request("r3", "s1", ""), review.card().choice("approve"))))
	if !strings.Contains(strings.Join(done.texts(), "\n"), "Done:") || len(p.notesOf("ann", "s1")) != 1 {
		t.Errorf("the approval: %s", done.Raw)
	}
	p.app.kill()
}

// TestADenialWithAReasonAndAQuorum: where the rule demands a reason, a denial without one does not use up the token;
// where it wants two people, the first one is told that more must decide.
func TestADenialWithAReasonAndAQuorum(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	rule := "version: 1\nrules:\n  - name: notes\n    tools: [note.add]\n    action: ask\n    approvers: " +
		"[\"openharness:ann\", \"openharness:bob\"]\n    self: true\n    reason: required\n    quorum: 2\n"
	noErr(t, os.WriteFile(policy, []byte(rule), 0o600))
	p, ann, _, _ := newTrio(t, "GATEHOUSE_APPROVAL_POLICY="+policy)
	card := ann.must(ann.send(request("r1", "s1", "note add milk"))).card()
	ann.refused(ann.send(with(request("r2", "s1", ""), card.choice("deny"))), http.StatusBadRequest, "invalid_request")
	denied := ann.must(ann.send(because(with(request("r3", "s1", ""), card.choice("deny")), "not today")))
	if text := strings.Join(denied.texts(), "\n"); !strings.Contains(text, "not today") &&
		!strings.Contains(text, "denied") {
		t.Errorf("the denial: %s", denied.Raw)
	}
	card = ann.must(ann.send(request("r4", "s1", "note add eggs"))).card()
	half := ann.must(ann.send(with(request("r5", "s1", ""), card.choice("approve"))))
	if half.card() == nil || len(p.notesOf("ann", "s1")) != 0 {
		t.Errorf("one of two approvals: %s", half.Raw)
	}
	if n := len(p.approvals(core.Open)); n != 1 {
		t.Errorf("%d approvals are open", n)
	}
	p.app.kill()
}

// TestControlWordsOfAShell: stop ends a turn that runs, new starts a new conversation and withdraws what waits.
func TestControlWordsOfAShell(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=10m")
	ann.header.Set("Prefer", "wait=0")
	working := ann.must(ann.send(request("r1", "s1", "hello")))
	status := working.Answer.Response.Directives[0].own().Status
	if status.Token == "" {
		t.Fatalf("a turn that goes on: %s", working.Raw)
	}
	ann.header.Set("Prefer", "wait=20")
	p.until("the turn runs", p.app, func() bool {
		for _, e := range p.events(core.EventFilter{Waiting: true}) {
			if e.Attempt > 0 {
				return true
			}
		}
		return false
	})
	stopped := ann.must(ann.send(request("r2", "s1", "!stop")))
	if fmt.Sprint(stopped.texts()) != "[Stopped.]" {
		t.Errorf("stop: %s", stopped.Raw)
	}
	over := ann.must(ann.send(with(request("r3", "s1", ""), status)))
	if all := over.Answer.Response.Directives; len(all) != 0 && all[0].Payload.Pending {
		t.Errorf("the run that was stopped: %s", over.Raw)
	}
	fresh := ann.must(ann.send(request("r4", "s1", "!new")))
	if !strings.Contains(strings.Join(fresh.texts(), ""), "new conversation") {
		t.Errorf("new: %s", fresh.Raw)
	}
	p.app.kill()
}
