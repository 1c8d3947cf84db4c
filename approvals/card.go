package approvals

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// CardOf returns the card of an approval, with all of its arguments, with secrets masked, and with everything visible
// that is in them. intent is that of its call, nil if there is none; it tells what became of an approved call.
func CardOf(a core.Approval, intent *core.IntentRecord) core.Card {
	var voters, against []core.Actor
	for _, v := range a.Standing() {
		switch v.Choice {
		case core.Approve:
			voters = append(voters, v.Actor)
		case core.Deny:
			against = append(against, v.Actor)
		}
	}
	call := a.Call.Read()
	card := core.Card{
		Approval: a.ID, State: a.State, Tool: mask.EscapeLine(a.Call.Tool),
		Summary:   mask.EscapeLine(call.About(a.Call.Summary)),
		Arguments: mask.Escape(pretty(call.Shown())), Hidden: call.Hidden(), Altered: altered(a.Call),
		Requester: a.Requester.Called(), Approvers: a.Rule.Approvers, Reason: mask.Text(a.Reason),
		Self: a.Rule.Self, People: a.Rule.People, Voters: voters, Quorum: max(1, a.Rule.Quorum), Against: against,
		Vetoes: max(1, a.Rule.Vetoes), NeedsWhy: a.Rule.Reason, Direct: slices.Contains(a.Rule.Notify, core.NotifyDM),
		Asked: core.Asked{
			Message: mask.EscapeLine(call.About(a.Asked.Message)), Place: a.Asked.Place, Of: a.Asked.Of,
			Dropped: mask.EscapeLine(a.Asked.Dropped),
		},
		Risk: a.Call.Risk, Changed: call.About(a.Changed), Deadline: a.Deadline, CreatedAt: a.CreatedAt,
		Requested: a.Requester, From: a.Address, Conversation: a.Conversation,
	}
	if a.Question != nil {
		card.Question, card.Answer = shownQuestion(*a.Question), shownAnswer(a)
		card.Altered = false // no call of it runs
	}
	if a.State == core.Open && a.Question == nil {
		card.LookAlikes = mask.Mixed(strings.Join([]string{card.Tool, card.Summary, card.Arguments}, " "))
	}
	card.Edits, card.Editor, card.Editable = a.Edits(), a.Editor(),
		a.Rule.Edit && a.State == core.Open && card.Hidden == 0 && !card.Altered
	card.Batch = a.Rule.Batch && a.State == core.Open && a.Question == nil && !card.Altered
	card.Said = a.Call.Said && card.Hidden == 0 && !card.Altered && card.Summary == a.Call.Summary
	card.Before = before(a)
	if a.State != core.Open {
		card.DecidedBy, card.Decided, card.DecidedAt = a.DecidedBy.Called(), a.DecidedBy, a.DecidedAt
	}
	if a.Use != nil {
		card.Reason = "" // the card says in its own words what the policy's reason says
	}
	if card.Use, card.Memory = a.Use, a.Memory(); a.State == core.Open {
		card.Memory = a.Offers()
	} else if card.Memory != (core.Memory{}) {
		card.Until = a.DecidedAt.Add(card.Memory.For)
	}
	if a.State == core.Approved {
		card.Run, card.RunNote, card.RunAt = intent.State(), note(a.Call, intent), ranAt(intent)
	}
	return card
}

// contradictedCard is the card of an approval that the audit log contradicts, from what holds of it. It can't be
// approved.
func contradictedCard(holds core.Approval, words string) core.Card {
	holds.Call.Summary = words
	card := CardOf(holds, nil)
	card.Altered = true
	if card.State == core.Approved {
		card.Run = core.CallUnknown
	}
	return card
}

// maxNote is the limit of a note in characters.
const maxNote = 200

// note is why the call failed, was not run or is in doubt: one line, with secrets masked.
func note(c core.Call, i *core.IntentRecord) string {
	if i == nil || i.Result == nil || i.Result.Category == "" {
		return ""
	}
	text := i.Result.Content
	if f, ok := tool.FailureOf(text); ok {
		text = f.Message
	}
	line := []rune(mask.EscapeLine(strings.Join(strings.Fields(c.Mask(text)), " ")))
	if len(line) > maxNote {
		line = append(line[:maxNote-1], '…')
	}
	return string(line)
}

// ranAt is when the call began or, once it has ended, when it ended.
func ranAt(i *core.IntentRecord) time.Time {
	switch {
	case i == nil:
		return time.Time{}
	case i.Result == nil:
		return i.BegunAt
	}
	return i.EndedAt
}

// before is what was asked for, if an approver has changed it: with secrets masked, and only if it is what was
// recorded.
func before(a core.Approval) string {
	arguments := a.Before()
	digest, err := tool.Digest(a.Call.Tool, arguments)
	if arguments == nil || err != nil || digest != a.Requested {
		return ""
	}
	return mask.Escape(pretty(mask.Shown(arguments, a.Call.Secret...)))
}

// altered reports whether a stored call is not the one whose digest was taken when it was asked for.
func altered(c core.Call) bool {
	digest, err := tool.Digest(c.Tool, c.Arguments)
	return err != nil || digest != c.Digest
}

// Unmasked returns the arguments of an approval's call as its card shows them, but without masks.
func Unmasked(a core.Approval) string { return mask.Escape(pretty(a.Call.Arguments)) }

func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
