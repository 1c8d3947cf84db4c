package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// deaf is a platform that hangs: it answers no send until it is released.
type deaf struct {
	*board
	entered chan struct{}
	release chan struct{}
}

func (d deaf) Name() string { return "deaf" }

func (d deaf) Post(context.Context, core.Delivery) (core.Ref, bool, error) {
	d.entered <- struct{}{}
	<-d.release
	return "there", false, nil
}

func TestHangingPlatformDelaysNoOther(t *testing.T) {
	d := deaf{&board{leftOut: map[string]int{}}, make(chan struct{}, 100), make(chan struct{})}
	o := newOffice(t, false, func(opt *outbox.Options) { opt.Platforms = append(opt.Platforms, d) })
	const many = 300
	for i := range many {
		o.n++
		e := core.Event{
			Platform: "deaf", ID: fmt.Sprint(o.n), Conversation: core.ConversationID(fmt.Sprintf("deaf:%d", i)),
			Body: core.MessageEvent{},
		}
		if _, err := o.store.Accept(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		claims, err := o.store.Claim(t.Context(),
			core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "deaf"}}})
		if err != nil || len(claims) != 1 {
			t.Fatalf("%v, %v", claims, err)
		}
		post := core.Post{
			Key: e.ID, To: core.Address{Platform: "deaf", Channel: e.ID}, Conversation: e.Conversation,
			Kind: core.PostReply, Text: "x",
		}
		if err := o.store.Finish(t.Context(),
			core.Finish{
				Claim:   claims[0],
				End:     core.End{Kind: core.EndReplied},
				Changes: core.Changes{Posts: []core.Post{post}},
			}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = o.box.Run(ctx) }()
	for range 256 { // all its slots
		<-d.entered
	}
	o.put(core.Post{Key: "a", Text: "hello"})
	o.box.Nudge()
	deadline := time.After(20 * time.Second)
	for len(o.board.seen()) == 0 {
		select {
		case <-deadline:
			t.Fatal("the other platform is held up")
		case <-time.After(time.Millisecond):
		}
	}
	close(d.release)
	stop()
	<-ended
}
