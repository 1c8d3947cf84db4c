package approvals

import (
	"bytes"
	"cmp"
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// CardOf returns the card of an approval, with all of its arguments, with secrets masked, and with everything visible that is in them.
func CardOf(a core.Approval) core.Card {
	var voters []core.Actor
	for _, v := range a.Votes {
		if v.Choice == core.Approve {
			voters = append(voters, v.Actor)
		}
	}
	card := core.Card{
		Approval: a.ID, State: a.State, Tool: core.RevealLine(a.Call.Tool), Summary: core.RevealLine(core.MaskText(a.Call.Summary)),
		Arguments: core.Reveal(pretty(core.MaskJSON(a.Call.Arguments))), Hidden: core.HiddenCharacters(a.Call.Arguments), Altered: altered(a.Call),
		Requester: cmp.Or(a.Requester.Name, a.Requester.ID), Approvers: a.Rule.Approvers, Reason: core.MaskText(a.Reason),
		Self: a.Rule.Self, Voters: voters, Quorum: max(1, a.Rule.Quorum), Risk: a.Call.Risk, Changed: core.MaskText(a.Changed), Deadline: a.Deadline, CreatedAt: a.CreatedAt,
		Requested: a.Requester, From: a.Address, Conversation: a.Conversation,
	}
	if a.State != core.Open {
		card.DecidedBy, card.Decided, card.DecidedAt = cmp.Or(a.DecidedBy.Name, a.DecidedBy.ID), a.DecidedBy, a.DecidedAt
	}
	return card
}

// altered reports whether a stored call is not the one whose digest was taken when it was asked for.
func altered(c core.Call) bool {
	digest, err := tool.Digest(c.Tool, c.Arguments)
	return err != nil || digest != c.Digest
}

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
