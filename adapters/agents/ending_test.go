package agents_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/agents"
	"gatehouse/core"
)

// open has one request, which is open.
type open struct {
	agents.Approvals
	looked func() // is called each time that the request is looked at
}

func (o open) Requested(context.Context, core.ApprovalID, core.Actor) (core.Approval, error) {
	o.looked()
	return core.Approval{ID: "a", State: core.Open}, nil
}

// TestWhoWaitsIsAnsweredAtTheEnd: when gatehouse ends, a request that waits gets the present state, and holds nothing
// up.
func TestWhoWaitsIsAnsweredAtTheEnd(t *testing.T) {
	signer, err := core.NewSigner("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	ending, looks := make(chan struct{}), 0
	o := agents.Options{
		Gate: access.New(access.Options{Signer: signer}), Ending: ending, Poll: time.Hour,
		Approvals: open{looked: func() {
			if looks++; looks == 1 {
				close(ending)
			}
		}},
	}
	server := serving(t, o)
	client := http.Client{Timeout: 30 * time.Second}
	answer, err := client.Get(server.URL + "/v1/approvals/a?wait=60")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || looks != 2 {
		t.Errorf("status %d after %d looks", answer.StatusCode, looks)
	}
}

// TestOneAgentCantWaitWithoutBound: above the limit it is told so at once, and the state without a wait is still to be
// had.
func TestOneAgentCantWaitWithoutBound(t *testing.T) {
	signer, err := core.NewSigner("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	ending, looked := make(chan struct{}), make(chan struct{}, 8)
	o := agents.Options{
		Gate: access.New(access.Options{Signer: signer}), Ending: ending, Poll: time.Hour, Waiting: 2,
		Approvals: open{looked: func() { looked <- struct{}{} }},
	}
	server := serving(t, o)
	get := func(query string) int {
		answer, err := (&http.Client{Timeout: 30 * time.Second}).Get(server.URL + "/v1/approvals/a" + query)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer func() { _ = answer.Body.Close() }()
		return answer.StatusCode
	}
	waited := make(chan int, 2)
	for range 2 {
		go func() { waited <- get("?wait=60") }()
		<-looked
	}
	if over, now := get("?wait=60"), get(""); over != http.StatusTooManyRequests || now != http.StatusOK {
		t.Errorf("one wait more: %d, without one: %d", over, now)
	}
	close(ending)
	for range 2 {
		if status := <-waited; status != http.StatusOK {
			t.Errorf("who waited: %d", status)
		}
	}
}

// serving serves the routes until the test ends.
func serving(t *testing.T, o agents.Options) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, handler := range o.Routes() {
		mux.Handle(pattern, handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}
