package approvals_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/approvals"
	"gatehouse/core"
)

func TestLaw8_ACardCountsWhatTheSchemaHides(t *testing.T) {
	a := core.Approval{
		ID: "a1", State: core.Approved, Asked: core.Asked{Message: "store 471147 please"},
		Call: core.Call{
			Tool: "vault", Summary: "Store 471147.",
			Arguments: json.RawMessage(`{"pin":471147,"users":[{"phrase":"open the barn door"}],"name":"ann"}`),
			Secret:    []string{"/pin", "/users/0/phrase"},
		},
	}
	intent := &core.IntentRecord{
		BegunAt: time.Unix(1, 0), EndedAt: time.Unix(2, 0),
		Result: &core.ToolResult{
			Content: `{"error":{"category":"tool_failed","message":"471147 is taken"}}`, Category: core.ToolFailed,
		},
	}
	card := approvals.CardOf(a, intent)
	if card.Hidden != 6+18 || !strings.Contains(card.Arguments, `"pin": "•••••• (6 characters hidden)"`) ||
		!strings.Contains(card.Arguments, `"phrase": "•••••• (18 characters hidden)"`) ||
		!strings.Contains(card.Arguments, `"name": "ann"`) {
		t.Errorf("%d hidden in %s", card.Hidden, card.Arguments)
	}
	if card.Summary != "Store ••••••." || card.RunNote != "•••••• is taken" ||
		card.Asked.Message != "store •••••• please" {
		t.Errorf("%q, %q, %q", card.Summary, card.RunNote, card.Asked.Message)
	}
}
