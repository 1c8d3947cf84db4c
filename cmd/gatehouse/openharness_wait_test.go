package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestTheEndOfAWaitIsNoFailure: a request whose wait is over is answered with what there is, and what it asked for is
// done.
func TestTheEndOfAWaitIsNoFailure(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	card := ann.must(ann.send(request("r1", "s1", "note add milk"))).card()
	for _, wait := range []string{"wait=0", "wait=1"} {
		ann.header.Set("Prefer", wait)
		if got := ann.must(ann.send(with(request("", "s1", ""), card.own().Status))); got.card().choice(
			"approve").Token == "" {
			t.Errorf("%s, while the run waits: %s", wait, got.Raw)
		}
	}
	ann.header.Set("Prefer", "wait=0")
	asked := ann.must(ann.send(request("r2", "s2", "note add eggs")))
	decided := ann.must(ann.send(with(request("r3", "s1", ""), card.choice("approve"))))
	ann.header.Set("Prefer", "wait=20")
	again := ann.must(ann.send(with(request("r3", "s1", ""), card.choice("approve"))))
	if !strings.Contains(strings.Join(again.texts(), "\n"), "Done:") {
		t.Errorf("the decision that was not waited for: %s, then %s", decided.Raw, again.Raw)
	}
	if repeated := ann.must(ann.send(request("r2", "s2", "note add eggs"))); repeated.card() == nil {
		t.Errorf("the message that was not waited for: %s, then %s", asked.Raw, repeated.Raw)
	}
	if bytes.Contains([]byte(p.app.out.String()), []byte("a request failed")) {
		t.Error("the log tells of a failure")
	}
	p.app.kill()
}
