package chat_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// ear hears the deltas of a turn.
type ear struct{ heard []string }

func (e *ear) Step(tool string)  { e.heard = append(e.heard, "runs "+tool) }
func (e *ear) Waits(time.Time)   { e.heard = append(e.heard, "waits") }
func (e *ear) Writes()           { e.heard = append(e.heard, "writes") }
func (e *ear) Piece(text string) { e.heard = append(e.heard, text) }
func (e *ear) Said(text string)  { e.heard = append(e.heard, "said "+text) }
func (e *ear) Watched() bool     { return true }

// writes says a text in pieces.
func writes(pieces ...string) graph.Node {
	return func(ctx context.Context, _ graph.State) (graph.Update, error) {
		on, text := core.DeltasFrom(ctx), ""
		on.Writes()
		for _, piece := range pieces {
			on.Piece(piece)
			text += piece
		}
		on.Said(text)
		return graph.Update{graph.Messages.Add(say(core.Assistant, text))}, nil
	}
}

// TestAStreamHasTheOutcomeOfTheTurn, for a turn that completes, one that pauses and is resumed, and one that fails; and
// who listens hears it on the way. Nobody needs to.
func TestAStreamHasTheOutcomeOfTheTurn(t *testing.T) {
	build := func() *graph.Builder {
		return line(writes("shall ", "I?"), pause("x"), writes("done"), fails(errPlain))
	}
	quiet, loud := newRig(t, build()), newRig(t, build())
	var on ear
	turn := chat.WithInvocation("inv")
	want := []core.Outcome{
		quiet.Send(t.Context(), "s", say(core.User, "do it"), turn),
		quiet.Resume(t.Context(), chat.Signal{SignalID: "x"}),
	}
	got := []core.Outcome{
		loud.SendStreaming(t.Context(), "s", say(core.User, "do it"), &on, turn),
		loud.ResumeStreaming(t.Context(), chat.Signal{SignalID: "x"}, &on),
	}
	one, other := suspended(t, want[0]), suspended(t, got[0])
	if !reflect.DeepEqual(one.Pending, other.Pending) || one.Invocation != other.Invocation {
		t.Errorf("the turn is %+v, streamed %+v", one, other)
	}
	errored(t, want[1], core.NodeException)
	errored(t, got[1], core.NodeException)
	if want := []string{
		"writes", "shall ", "I?", "said shall I?", "writes", "done", "said done",
	}; !slices.Equal(on.heard, want) {
		t.Errorf("heard %q", on.heard)
	}
}
