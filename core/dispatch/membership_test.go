package dispatch_test

import (
	"context"
	"testing"

	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/dispatch"
)

// askedDirectory is a directory that reports when it is asked for groups.
type askedDirectory struct {
	withDirectory
	asked chan struct{}
}

func (d askedDirectory) Groups(ctx context.Context, who core.Actor, wanted []string) ([]string, error) {
	select {
	case d.asked <- struct{}{}:
	default:
	}
	return d.withDirectory.Groups(ctx, who, wanted)
}

// opsDecide has the members of room:ops decide, as the directory says; down is the error of its answers.
func opsDecide(down error, asked chan struct{}) setup {
	return setup{
		policy: policy.Defaults{Approvers: []string{"room:ops"}}.Rule,
		options: func(o *dispatch.Options) {
			known := withDirectory{o.Platforms[0].(*room), map[string][]string{"room:ops": {"room:bob"}}, down}
			o.Platforms, o.Drain = []core.Platform{askedDirectory{known, asked}}, 1
		},
	}
}

// TestLaw1_APressOutlivesTheEndOfAProcess that was finding out whether its person may decide: it is not refused, and
// counts in the next one.
func TestLaw1_APressOutlivesTheEndOfAProcess(t *testing.T) {
	asked := make(chan struct{}, 1)
	b := newBench(t,
		opsDecide(core.Errorf(core.ProviderUnavailable, "The room can't say whether you are in ops."), asked))
	b.say("room:1", "note add milk")
	card := b.asked()
	press := b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-asked
	b.stop()
	next := opsDecide(nil, make(chan struct{}, 1))
	next.path = b.path
	again := newBench(t, next)
	again.expect("Done: “milk” is in the note book.")
	if e := again.ended(press.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("the press ended as %+v", e.End)
	}
}
