package openharness

import (
	"strconv"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// What a continuation token does, besides the actions of buttons: approve, remember, deny, withdraw, answer, new,
// ask_again and forget, each of which is done once. Each token is for one principal and carries an HMAC, so that it can
// be made again at any time and is stored nowhere.
const (
	actStatus outbound.Action = "status" // reads what became of a run; may be used again and again
	// reads a card that needs a second step; the answer has the token that approves
	actReview outbound.Action = "review"
	actRetry  outbound.Action = "retry" // tries a failed message again, once
)

// tokenPurpose begins every token, so that no other sealed value of gatehouse, such as a button of a chat platform, is
// taken for one.
const tokenPurpose = "openharness"

// token is a continuation token's content.
type token struct {
	Action  outbound.Action
	Subject string // the run of a status, the approval of a decision, the number of a failed event
	// of a decision: how often the arguments had been changed on the card that it was given with; of an answer: the
	// place of the option, from 1, or 0
	Edits int
}

// openToken reads a token of this principal; ok is false for any other text.
func (c *call) openToken(text string) (t token, ok bool) {
	fields, ok := c.Signer.Open(text)
	if !ok || len(fields) != 5 || fields[0] != tokenPurpose || fields[4] != c.who.Actor.ID {
		return token{}, false
	}
	edits, err := strconv.Atoi(fields[3])
	return token{Action: outbound.Action(fields[1]), Subject: fields[2], Edits: edits}, err == nil
}

// button is what a token does, as the button of a card or below the reply to a failed event.
func (t token) button() outbound.Button {
	b := outbound.Button{Action: t.Action, Approval: core.ApprovalID(t.Subject), Edits: t.Edits}
	switch t.Action {
	case actReview:
		b.Action = outbound.ActionConfirm
	case outbound.ActionAnswer:
		b.Option, b.Edits = t.Edits, 0
	case actRetry:
		b.Action = outbound.ActionRetry
	}
	if b.OnReply() {
		b.Failed, _ = strconv.ParseInt(t.Subject, 10, 64) // 0 if it is no number: there is no such event
	}
	return b
}

// continuation is the wire form of a token: a Shell sends it back verbatim.
func (c *call) continuation(run core.InvocationID, t token) map[string]any {
	sealed := c.Signer.Seal(tokenPurpose, string(t.Action), t.Subject, strconv.Itoa(t.Edits), c.who.Actor.ID)
	return map[string]any{"run_id": string(run), "continuation_token": sealed}
}
