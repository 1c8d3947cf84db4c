package approvals

import (
	"bytes"
	"cmp"
	"encoding/json"

	"gatehouse/core"
)

// CardOf returns the card of an approval, with all of its arguments and with secrets masked.
func CardOf(a core.Approval) core.Card {
	votes := 0
	for _, v := range a.Votes {
		if v.Choice == core.Approve {
			votes++
		}
	}
	card := core.Card{
		Approval: a.ID, State: a.State, Tool: a.Call.Tool, Summary: core.MaskText(a.Call.Summary), Arguments: pretty(core.MaskJSON(a.Call.Arguments)),
		Requester: cmp.Or(a.Requester.Name, a.Requester.ID), Approvers: a.Rule.Approvers, Reason: core.MaskText(a.Reason),
		Votes: votes, Quorum: max(1, a.Rule.Quorum), Risk: a.Call.Risk, Changed: core.MaskText(a.Changed), Deadline: a.Deadline, CreatedAt: a.CreatedAt,
		Requested: a.Requester, From: a.Address,
	}
	if a.State != core.Open {
		card.DecidedBy, card.Decided, card.DecidedAt = cmp.Or(a.DecidedBy.Name, a.DecidedBy.ID), a.DecidedBy, a.DecidedAt
	}
	return card
}

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
