package adaptertest

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
)

// Cards draws every approval as an open one.
type Cards struct{}

// Card is the card of an approval.
func (Cards) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{Approval: id, State: core.Open, Tool: "note_add", Summary: "Add the note " + string(id), Arguments: `{}`}, nil
}

// CardFunc draws approvals as a test wants them.
type CardFunc func(context.Context, core.ApprovalID) (core.Card, error)

// Card is the card of an approval.
func (f CardFunc) Card(ctx context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return f(ctx, id)
}

// Signer is a signer with these keys.
func Signer(t testing.TB, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Shown is what a reader sees of messages.
func Shown[M interface{ Shown() string }](messages []M) string {
	var text strings.Builder
	for _, m := range messages {
		text.WriteString(m.Shown() + "\n")
	}
	return text.String()
}
