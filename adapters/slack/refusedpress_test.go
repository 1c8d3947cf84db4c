package slack_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestRefusedPressesSaySo: of a button privately, of a form at its inputs, and it stays open.
func TestRefusedPressesSaySo(t *testing.T) {
	dialog := "what is dangerous is confirmed in Slack's own dialog"
	without := map[string]string{"an approval of other arguments": dialog, "another word": dialog}
	adaptertest.RefusedPresses(t, "slack:U2BOB", without, func(t *testing.T, c adaptertest.Refusal) string {
		r := start(t, setup{fake: slacktest.Options{AckWithin: 1e8}, slack: core.Deps{Cards: c.Cards()}}).known()
		if c.Unstored {
			r.inbox.Gate(busy)
		}
		said := ""
		if c.Form {
			said = r.submitted(c)
		} else {
			r.bob.Presses(r.button("C1", c.Value(t, testKey)))
			said = r.told("C1", "U2BOB", 1)
		}
		if got := r.inbox.Take(); len(got) != 0 {
			t.Errorf("stored: %+v", got)
		}
		return said
	})
}

// submitted submits a form and returns what it then shows at its inputs.
func (r *running) submitted(c adaptertest.Refusal) string {
	r.t.Helper()
	callback, input := "deny_reason", "reason"
	switch c.Action {
	case outbound.ActionEdit:
		callback, input = "edit_arguments", "arguments"
	case outbound.ActionAnswer:
		callback, input = "answer_question", "field_1"
	}
	values := map[string]any{input: map[string]any{input: map[string]any{"type": "plain_text_input", "value": c.Typed}}}
	body, err := json.Marshal(map[string]any{
		"type": "view_submission", "team": map[string]any{"id": "T0GATE"}, "user": map[string]any{"id": "U2BOB"},
		"view": map[string]any{
			"id": "V1", "callback_id": callback, "private_metadata": c.Value(r.t, testKey, "C1", ""),
			"state": map[string]any{"values": values},
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	status, answer := r.send("/slack/interactions", formOf(string(body)), nil)
	var shown struct {
		Action string `json:"response_action"`
		Errors map[string]string
	}
	if err := json.Unmarshal([]byte(answer), &shown); err != nil || status != 200 || shown.Action != "errors" {
		r.t.Errorf("answered %d %s", status, answer)
	}
	var all []string
	for _, text := range shown.Errors {
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}
