package dispatch_test

import (
	"fmt"
	"testing"

	"gatehouse/core"
)

// TestOnePersonHasALimitedNumberOfOpenApprovals: one request too many is refused with a sentence, and changes nothing.
func TestOnePersonHasALimitedNumberOfOpenApprovals(t *testing.T) {
	const limit = 20
	b := newBench(t, setup{})
	for n := range limit {
		b.ended(b.say(core.ConversationID(fmt.Sprintf("room:%d", n)), "note add milk").Seq)
	}
	refused := b.ended(b.say("room:refused", "note add milk").Seq)
	if refused.End.Kind != core.EndErrored || refused.End.Category != core.RateLimited {
		t.Errorf("%+v", refused.End)
	}
	open, err := b.store.ListApprovals(t.Context(), core.ApprovalFilter{States: []core.ApprovalState{core.Open}})
	if err != nil || len(open) != limit {
		t.Errorf("%d open approvals, %v", len(open), err)
	}
	b.ended(b.word("room:0", "cancel").Seq)
	if again := b.ended(b.say("room:refused", "note add milk").Seq); again.End.Kind != core.EndSuspended {
		t.Errorf("%+v", again.End)
	}
}
