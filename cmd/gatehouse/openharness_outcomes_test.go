package main

import (
	"bytes"
	"database/sql"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// newModelEngine starts gatehouse with a fake vendor's model.
func newModelEngine(t *testing.T, v fakeVendor) (*serveProcess, *shell) {
	t.Helper()
	env := []string{"GATEHOUSE_TOKENS=ann!=" + annsToken}
	for key, value := range v.env {
		env = append(env, key+"="+value)
	}
	p := newServeProcess(t, sqliteFile, env...)
	p.open()
	return p, newShell(t, p.at, annsToken)
}

// TestARefusalOfTheModelIsRepeated: a turn that can't succeed as it is fails again under its request_id, without asking
// the model.
func TestARefusalOfTheModelIsRepeated(t *testing.T) {
	t.Parallel()
	v := vendors["OpenAI"](t)
	p, ann := newModelEngine(t, v)
	v.Then(v.fail(http.StatusBadRequest, "invalid_request_error", "no"))
	first := ann.refused(ann.send(request("r1", "s1", "hello")), http.StatusOK, "provider_invalid_request")
	if e := first.Answer.Response.Error; e.Retryable || e.Details["error_bucket"] != string(core.UserCorrectable) {
		t.Errorf("the error is %s", first.Raw)
	}
	if again := ann.send(request("r1", "s1", "hello")); !bytes.Equal(again.Raw, first.Raw) || len(v.Calls()) != 1 {
		t.Errorf("repeated: %s; the model was asked %d times", again.Raw, len(v.Calls()))
	}
	p.app.kill()
}

// TestARetryableRequestIsTriedAgain: who is told that a request may be repeated repeats it, and is served. From then on
// that is its answer.
func TestARetryableRequestIsTriedAgain(t *testing.T) {
	t.Parallel()
	v := vendors["OpenAI"](t)
	p, ann := newModelEngine(t, v)
	v.Think(func(llmtest.Received) llmtest.Answer {
		return v.fail(http.StatusServiceUnavailable, "server_error", "down")
	})
	failed := ann.refused(ann.send(request("r1", "s1", "hello")), http.StatusOK, "provider_unavailable")
	if e := failed.Answer.Response.Error; !e.Retryable || e.Details["error_bucket"] != string(core.RetryableTransient) {
		t.Errorf("the error is %s", failed.Raw)
	}
	ann.refused(ann.send(request("r1", "s1", "hello!")), http.StatusConflict, "request_id_conflict")
	v.Think(func(llmtest.Received) llmtest.Answer { return v.say("Good morning.") })
	asked := len(v.Calls())
	ann.header.Set("Prefer", "wait=0")
	ann.must(ann.send(request("r1", "s1", "hello")))
	ann.header.Del("Prefer")
	answers := make(chan reply, 5)
	for range cap(answers) {
		go func() { answers <- ann.send(request("r1", "s1", "hello")) }()
	}
	done := ann.must(<-answers)
	for range cap(answers) - 1 {
		if other := <-answers; !bytes.Equal(other.Raw, done.Raw) {
			t.Errorf("tried again at the same time, the answer differs:\n%s\n%s", done.Raw, other.Raw)
		}
	}
	if !slices.Equal(done.texts(), []string{"Good morning."}) || len(v.Calls()) != asked+1 {
		t.Errorf("tried again, the model was asked %d times more: %s", len(v.Calls())-asked, done.Raw)
	}
	v.Think(func(llmtest.Received) llmtest.Answer { return v.say("Good evening.") })
	if again := ann.must(ann.send(request("r1", "s1", "hello"))); !bytes.Equal(again.Raw, done.Raw) {
		t.Errorf("the answer differs:\n%s\n%s", done.Raw, again.Raw)
	}
	if next := ann.must(ann.send(request("r2", "s1", "hello"))); len(next.texts()) != 1 ||
		strings.Count(v.lastBody(), "hello") != 2 {
		t.Errorf("the next answer is %s; the model was sent %s", next.Raw, v.lastBody())
	}
	p.app.kill()
}

// TestAPressIsAnsweredTheSame: two messages failed, and both are tried again; each button has the answer of its own
// message, however often and in whatever order it is pressed.
func TestAPressIsAnsweredTheSame(t *testing.T) {
	t.Parallel()
	v := vendors["OpenAI"](t)
	p, ann := newModelEngine(t, v)
	v.Think(func(llmtest.Received) llmtest.Answer {
		return v.fail(http.StatusServiceUnavailable, "server_error", "down")
	})
	var buttons []continuation
	for _, id := range []string{"r1", "r2"} {
		failed := ann.refused(ann.send(request(id, "s1", "hello")), http.StatusOK, "provider_unavailable")
		actions := failed.Answer.Response.Extensions["dev.gatehouse"].Actions
		if len(actions) != 1 {
			t.Fatalf("the buttons: %s", failed.Raw)
		}
		buttons = append(buttons, actions[0].Continuation)
	}
	for i, want := range []string{"Good morning.", "Good evening."} {
		v.Think(func(llmtest.Received) llmtest.Answer { return v.say(want) })
		got := ann.must(ann.send(with(request("", "s1", ""), buttons[i])))
		if !slices.Equal(got.texts(), []string{want}) {
			t.Fatalf("pressed, the answer is %s", got.Raw)
		}
	}
	if again := ann.must(ann.send(with(request("", "s1", ""), buttons[0]))); !slices.Equal(again.texts(),
		[]string{"Good morning."}) {
		t.Errorf("pressed again, the answer is %s", again.Raw)
	}
	p.app.kill()
}

// TestADeadLetterIsNotTriedAgainByItsRequest: a message that was given up, since it ended its process again and again,
// is not retryable, and repeating its request does not run it again.
func TestADeadLetterIsNotTriedAgainByItsRequest(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=10m")
	ann.header.Set("Prefer", "wait=0")
	ann.must(ann.send(request("r1", "s1", "hello")))
	begun := func() bool {
		all := p.events(core.EventFilter{Platform: "openharness"})
		return len(all) == 1 && all[0].Attempt > 0
	}
	p.until("the turn runs", p.app, begun)
	p.app.kill()
	wearOut(t, p.url)
	p.open()
	ann.at = p.at
	ann.header.Del("Prefer")
	for range 2 {
		got := ann.refused(ann.send(request("r1", "s1", "hello")), http.StatusOK, "internal")
		if e := got.Answer.Response.Error; e.Retryable || e.Details["error_bucket"] != string(core.SessionTerminating) {
			t.Errorf("the error is %s", got.Raw)
		}
	}
	if n := p.messagesOf("ann", "s1"); n != 1 {
		t.Errorf("%d messages were run", n)
	}
	p.app.kill()
}

// wearOut makes the next attempt of every event one too many.
func wearOut(t *testing.T, url string) {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(url, "sqlite:"))
	noErr(t, err)
	defer db.Close()
	if _, err := db.Exec(`update events set attempt = 5`); err != nil {
		t.Fatal(err)
	}
}
