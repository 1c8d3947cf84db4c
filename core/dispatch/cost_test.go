package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/storage/storagetest/cost"
)

// reader is the demo model, but it first reads the last twenty messages.
type reader struct{}

func (reader) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	if _, err := h.Tail(ctx, 20); err != nil {
		return agent.Answer{Message: core.Message{}}, err
	}
	return agent.Demo{}.Next(ctx, h, nil)
}

// TestTurnCostsTheSameInALongConversation runs whole turns, a suspension and its resume among them, in a session of
// before messages, and counts the rows of sessions and messages that are read and written.
func TestTurnCostsTheSameInALongConversation(t *testing.T) {
	type rows struct{ read, written int }
	measure := func(before int) (c rows) {
		first := newBench(t, setup{idle: true})
		first.preload(before)
		first.stop()
		var m cost.Meter
		b := newBench(t, setup{path: first.path, model: reader{}, trace: m.Trace})
		b.say("room:1", "hello")
		b.expect("Hello!")
		b.say("room:1", "note add milk")
		card := b.asked()
		b.ended(b.say("room:1", "calc 1+1").Seq)
		b.expect("1+1 = 2")
		b.click("room:1", card.Approval, "room:bob", core.Approve, "")
		b.expect("Done")
		b.stop()
		for _, s := range m.Statements() {
			if strings.Contains(s.SQL, "messages") || strings.Contains(s.SQL, "sessions") {
				c.read += s.Rows
				c.written += int(s.Changed)
			}
		}
		return c
	}
	short, long := measure(100), measure(10_000)
	if short != long || short.read < 20 || short.written == 0 {
		t.Errorf("after 100 messages %+v, after 10,000 %+v", short, long)
	}
	t.Logf("four turns: %+v", short)
}

// preload gives room:1 a history.
func (b *bench) preload(n int) {
	b.t.Helper()
	r := b.say("room:1", "before")
	claims, err := b.store.Claim(b.t.Context(),
		core.ClaimRequest{Owner: "test", Limit: 1, Scopes: []core.Scope{{Platform: "room"}}})
	if err != nil || len(claims) != 1 {
		b.t.Fatalf("%v, %v", claims, err)
	}
	msgs := make([]core.Message, n)
	for i := range msgs {
		msgs[i] = core.Message{Role: core.User, Content: core.Text("x")}
	}
	h := core.History{}.Append(msgs...)
	rec := &core.SessionRecord{
		ID: "room:1@1", SchemaVersion: agent.Version, Messages: &h,
		Writer: core.Writer{Invocation: claims[0].Event.Invocation},
	}
	if err := b.store.Finish(b.t.Context(),
		core.Finish{
			Claim:   claims[0],
			End:     core.End{Kind: core.EndNothing},
			Changes: core.Changes{Session: rec},
		}); err != nil {
		b.t.Fatal(err)
	}
	b.ended(r.Seq)
}
