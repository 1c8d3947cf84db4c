package slacktest_test

import (
	"net/http"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
)

func TestRequestsWithInvalidSignatures(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	a := newApp(t, w.SigningSecret())
	w.SendTo(a.everything())
	if err := w.alice.Says("hello", slacktest.SignedWith("wrong")).Deliveries[0].Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if all := a.all(); all[len(all)-1].bad == nil {
		t.Error("the signature is good")
	}
	d := w.SendRaw(slacktest.Events, []byte(`{"half":`))
	if err := d.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	all := a.all()
	if last := all[len(all)-1]; last.bad != nil || string(last.body) != `{"half":` {
		t.Errorf("%+v", last)
	}
	challenge, want := w.VerifyURL()
	if err := challenge.Wait(w.ctx); err != nil || want == "" {
		t.Error(err)
	}
}

func TestAnEventIsGivenUpAfterThreeRetries(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{AckWithin: 20 * time.Millisecond})
	a := newApp(t, w.SigningSecret())
	a.status = func(int, *http.Request) int { return http.StatusTeapot }
	w.SendTo(a.everything())
	d := w.alice.Says("hello").Deliveries[0]
	if err := d.Wait(w.ctx); err == nil || len(d.Attempts()) != 4 || d.Acked() {
		t.Errorf("%v after %d tries", err, len(d.Attempts()))
	}
	hang := make(chan struct{})
	a.mu.Lock()
	a.status = func(_ int, r *http.Request) int {
		select {
		case <-r.Context().Done():
		case <-hang:
		}
		return http.StatusOK
	}
	a.mu.Unlock()
	slow := w.alice.Says("hello").Deliveries[0]
	_ = slow.Wait(w.ctx)
	close(hang)
	if tries := slow.Attempts(); len(tries) != 4 || tries[1].Reason != "http_timeout" {
		t.Errorf("%+v", tries)
	}
	a.Close()
	if tries := func() []slacktest.Attempt {
		d := w.alice.Says("hello").Deliveries[0]
		_ = d.Wait(w.ctx)
		return d.Attempts()
	}(); len(tries) != 4 || tries[3].Reason != "connection_failed" {
		t.Errorf("%+v", tries)
	}
}
