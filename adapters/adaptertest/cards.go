package adaptertest

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
)

// Cards returns an open card for every approval, which Approvers may decide.
type Cards struct{ Approvers []string }

// Card returns the card of an approval.
func (c Cards) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{
		Approval: id, State: core.Open, Tool: "note.add", Summary: "Add the note " + string(id), Arguments: `{}`,
		Approvers: c.Approvers,
	}, nil
}

// NoRedraw is a Redraw that does nothing.
func NoRedraw(context.Context, core.ApprovalID) error { return nil }

// CardFunc is a function of a test that returns the cards of approvals.
type CardFunc func(context.Context, core.ApprovalID) (core.Card, error)

// Card returns the card of an approval.
func (f CardFunc) Card(ctx context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return f(ctx, id)
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
