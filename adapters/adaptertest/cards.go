package adaptertest

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
)

var _ core.Cards = CardFunc(nil)

// Cards returns an open card for every approval, which some approvers may decide.
func Cards(approvers ...string) CardFunc {
	return func(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
		return core.Card{
			Approval: id, State: core.Open, Tool: "note.add", Summary: "Add the note " + string(id), Arguments: `{}`,
			Approvers: approvers,
		}, nil
	}
}

// CardFunc returns the cards of a test's approvals. Any edit is fine, and nothing is drawn anew.
type CardFunc func(ctx context.Context, id core.ApprovalID, withContext bool) (core.Card, error)

// Card returns the card of an approval.
func (f CardFunc) Card(ctx context.Context, id core.ApprovalID, withContext bool) (core.Card, error) {
	return f(ctx, id, withContext)
}

// OpenCards returns none.
func (CardFunc) OpenCards(context.Context, core.ConversationID) ([]core.Card, error) { return nil, nil }

// RedrawCards does nothing.
func (CardFunc) RedrawCards(context.Context, core.ApprovalID) error { return nil }

// CheckEdit allows all.
func (CardFunc) CheckEdit(context.Context, core.ApprovalID, string) error { return nil }

// Events lists the events of a test.
type Events func(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)

// Events lists them.
func (list Events) Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
	return list(ctx, f)
}

// Signer returns a signer with these keys.
func Signer(t testing.TB, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Shown returns the text of messages as a reader sees it.
func Shown[M interface{ Shown() string }](messages []M) string {
	var text strings.Builder
	for _, m := range messages {
		text.WriteString(m.Shown() + "\n")
	}
	return text.String()
}
