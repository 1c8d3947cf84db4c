package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"gatehouse/core"
)

// room is a platform in memory. It hands each reply to the one who waits for it.
type room struct {
	name    string
	mu      sync.Mutex
	waiting map[core.ConversationID]chan core.Delivery // guarded by mu
}

var _ core.Platform = (*room)(nil)

func newRoom(name string) *room {
	return &room{name: name, waiting: map[core.ConversationID]chan core.Delivery{}}
}

// next returns where the next post in a conversation arrives.
func (r *room) next(c core.ConversationID) <-chan core.Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[c] = make(chan core.Delivery, 1)
	return r.waiting[c]
}

func (r *room) Name() string { return r.name }

func (r *room) Run(ctx context.Context, _ core.Accept) error { <-ctx.Done(); return nil }

func (r *room) Parse(_ context.Context, e core.Event) (core.Input, error) {
	var text string
	if err := json.Unmarshal(e.Payload, &text); err != nil {
		return core.Input{}, core.Wrap(core.ChatMessageShapeInvalid, err, "That is no text.")
	}
	return core.Input{Message: &core.Message{Role: core.User, Content: core.Text(text)}}, nil
}

func (r *room) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking || d.Kind == core.PostSteps {
		return "", false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.waiting[d.Conversation]; ok {
		c <- d
		delete(r.waiting, d.Conversation)
	}
	return core.Ref("ref/" + d.Key), false, nil
}

func (r *room) Find(context.Context, core.Delivery) (core.Found, error) {
	return core.Found{}, core.Errorf(core.Unsupported, "The room can't be read.")
}

func (r *room) Edit(context.Context, core.Ref, core.Delivery) error { return nil }

// errKind is the error of a post that should have been of another kind.
func errKind(d core.Delivery, want core.PostKind) error {
	return fmt.Errorf("a %s came, not a %s: %s", d.Kind, want, d.Text)
}
