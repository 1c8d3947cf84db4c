package openharness_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"gatehouse/core"
)

// pendingAnswer is an answer that is not there yet.
type pendingAnswer struct {
	Response struct {
		Status     string
		Directives []struct {
			ActionType string `json:"action_type"`
			Payload    map[string]any
			Extensions map[string]struct{ Status map[string]string }
		} `json:"action_directives"`
	}
}

// pending sends a request that nobody works on, and returns how its answer is asked for.
func (s *served) pending(t *testing.T, body []byte) map[string]string {
	t.Helper()
	status, raw, err := s.post(body)
	var a pendingAnswer
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil || status != http.StatusOK || a.Response.Status != "success" || len(a.Response.Directives) != 1 {
		t.Fatalf("an answer that is not there yet: %d %s %v", status, raw, err)
	}
	d := a.Response.Directives[0]
	ask := d.Extensions["dev.gatehouse"].Status
	keys := slices.Sorted(maps.Keys(d.Payload))
	if d.ActionType != "noop" || d.Payload["pending"] != true || d.Payload["run_id"] != ask["run_id"] ||
		!slices.Equal(keys, []string{"pending", "run_id"}) || ask["continuation_token"] == "" {
		t.Errorf("an answer that is not there yet: %s", raw)
	}
	return ask
}

// TestAnAnswerThatIsNotThereYetSaysNothing: whatever was sent, the answer is one noop with a continuation, whose own
// answer is the same while nothing has happened.
func TestAnAnswerThatIsNotThereYetSaysNothing(t *testing.T) {
	t.Parallel()
	s := running(t)
	failed := core.Post{
		Key: "error/1", To: core.Address{Platform: "openharness"}, Conversation: mailbox, Kind: core.PostError,
		Event: 1, Bucket: core.RetryableTransient, Text: "Sorry.",
	}
	asks := map[string]map[string]string{
		"a message":      s.pending(t, message("r1", `"user_intent":"hello"`)),
		"a control word": s.pending(t, message("r2", `"user_intent":"!status"`)),
	}
	card := core.Delivery{Post: core.Post{
		Key: "card/a1", To: core.Address{Platform: "openharness"}, Conversation: mailbox, Kind: core.PostCard,
		Approval: "a1",
	}}
	card.Card = &core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add a note", Arguments: "{}",
		Approvers: []string{core.LocalPerson}, Quorum: 1,
	}
	if _, _, err := s.Post(t.Context(), card); err != nil {
		t.Fatal(err)
	}
	// the run of the rig's approvals has no events
	s.pending(t, message("r3", `"continuation":`+s.choice(t, "a1", core.Approve)))
	if _, _, err := s.Post(t.Context(), core.Delivery{Post: failed}); err != nil {
		t.Fatal(err)
	}
	asks["a button"] = s.pending(t, message("r4", `"continuation":`+s.button(t)))
	n := 0
	for name, ask := range asks {
		n++
		token, err := json.Marshal(ask)
		if err != nil {
			t.Fatal(err)
		}
		if again := s.pending(t, message(fmt.Sprint("again", n), `"continuation":`+string(token))); !maps.Equal(again,
			ask) {
			t.Errorf("%s: the continuation %v leads to %v", name, ask, again)
		}
	}
}

// button returns the continuation of the button below a failure, as JSON.
func (s *served) button(t *testing.T) string {
	t.Helper()
	all, err := s.events("0")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		about, _ := m["response"].(map[string]any)["extensions"].(map[string]any)
		own, _ := about["dev.gatehouse"].(map[string]any)
		if actions, _ := own["actions"].([]any); len(actions) > 0 {
			raw, err := json.Marshal(actions[0].(map[string]any)["continuation"])
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
	}
	t.Fatal("there is no button")
	return ""
}
