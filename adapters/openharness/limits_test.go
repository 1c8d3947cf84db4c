package openharness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"gatehouse/adapters/openharness"
	"gatehouse/core"
)

// running starts the engine without a dispatcher: what is accepted is stored, and waits.
func running(t *testing.T, change ...func(*openharness.Options)) *served {
	t.Helper()
	s := serve(t, change...)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ended <- s.Run(ctx, func(context.Context, core.Event) (core.Receipt, error) { return core.Receipt{}, nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

// TestAPrincipalMaySendTenTimesTheRate, and is told when to go on; a repeated request is not counted.
func TestAPrincipalMaySendTenTimesTheRate(t *testing.T) {
	t.Parallel()
	s := running(t, func(o *openharness.Options) { o.Rate = 1 })
	for n := range 10 {
		for range 2 {
			if status, answer, err := s.post(message(fmt.Sprint("r", n), `"user_intent":"hello"`)); err != nil ||
				status != http.StatusOK {
				t.Fatalf("message %d: %d %s %v", n, status, answer, err)
			}
		}
	}
	status, answer, err := s.post(message("r10", `"user_intent":"hello"`))
	var said struct {
		Response struct {
			Error struct {
				Code      string
				Retryable bool
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(answer, &said)
	}
	if err != nil || status != http.StatusTooManyRequests || said.Response.Error.Code != "rate_limited" ||
		!said.Response.Error.Retryable {
		t.Errorf("the message above the rate: %d %s %v", status, answer, err)
	}
}

// TestANewKeyKeepsOldTokens: a token that was given before the signing key was replaced still decides, while the old
// key is kept, and not after.
func TestANewKeyKeepsOldTokens(t *testing.T) {
	t.Parallel()
	s := running(t)
	d := core.Delivery{Post: core.Post{
		Key: "card/a1", To: core.Address{Platform: "openharness"}, Conversation: mailbox, Kind: core.PostCard,
		Approval: "a1",
	}}
	d.Card = &core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add a note", Arguments: "{}",
		Approvers: []string{core.LocalPerson}, Quorum: 1,
	}
	if _, _, err := s.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	token := s.choice(t, "a1", core.Approve)
	for name, tc := range map[string]struct {
		keys []string
		want int
	}{
		"the old key behind a new one": {
			[]string{"a new key of many characters", "the old key of many characters"}, http.StatusOK,
		},
		"the new key alone": {[]string{"a new key of many characters"}, http.StatusConflict},
	} {
		signer, err := core.NewSigner(tc.keys...)
		if err != nil {
			t.Fatal(err)
		}
		s.Signer = signer
		status, answer, err := s.post(message(name, `"continuation":`+token))
		if err != nil || status != tc.want {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
	}
}
