package dispatch_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
)

// altered is a platform that has to be asked for a message, and says something else each time.
type altered struct {
	*room
	asked *atomic.Int64
}

func (a altered) Parse(_ context.Context, _ core.Event) (core.Input, error) {
	text := fmt.Sprintf("version %d", a.asked.Add(1))
	return core.Input{Message: &core.Message{Role: core.User, Content: core.Text(text)}, Fetched: true}, nil
}

// reading is a bench whose model repeats what it was asked, after its first calls failed.
func reading(t *testing.T, path string, asked *atomic.Int64, fails int64, c core.Category) *bench {
	var calls atomic.Int64
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		tail, err := h.Tail(ctx, 1)
		if calls.Add(1) <= fails {
			return agent.Answer{}, core.Errorf(c, "The model is overloaded.")
		}
		return agent.Answer{Message: core.Message{Content: core.Text("You asked " + tail[0].Content.String())}}, err
	})
	return newBench(t, setup{path: path, model: model, options: func(o *dispatch.Options) {
		o.Platforms = []core.Platform{altered{o.Platforms[0].(*room), asked}}
	}})
}

// What a message was read as is stored before anything is made of it: a later attempt does not ask the platform again.
func TestAMessageIsReadOnce(t *testing.T) {
	var asked atomic.Int64
	b := reading(t, "", &asked, 1, core.ProviderUnavailable)
	failed := b.say("room:1", "ignored")
	b.expect("trouble")
	b.accept(core.Event{Conversation: "room:1", Body: core.RetryEvent{Failed: failed.Seq}})
	b.expect("You asked version 1")
	if n := asked.Load(); n != 1 {
		t.Errorf("the platform was asked %d times", n)
	}
}
