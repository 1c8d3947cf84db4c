// Package turns runs whole turns within the process of a bench: the dispatcher, the store and the delivery of
// gatehouse, with an agent that needs no model and a platform in memory.
package turns

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/storage"
)

// Agent makes an agent that may keep things in a store.
type Agent func(*storage.Store) (*graph.Graph, error)

// Bot is a running dispatcher.
type Bot struct {
	room       *room
	store      *storage.Store
	dispatcher *dispatch.Dispatcher
	said       atomic.Int64
	session    string // begins the ids of events
	stop       func()
}

// workers is how many turns run at a time; gatehouse's default.
const workers = 512

// maxMessage is the size of the largest message, in bytes.
const maxMessage = 1 << 20

// OpenStore opens a database as gatehouse does, and registers a process that owns what it claims.
func OpenStore(ctx context.Context, url string) (s *storage.Store, owner string, err error) {
	if s, err = storage.Open(ctx, url, storage.Options{Now: time.Now, NewID: newID}); err != nil {
		return nil, "", err
	}
	if owner, err = s.Register(ctx, "bench", 0); err != nil {
		_ = s.Close() // the first error is the one that tells something
		return nil, "", err
	}
	return s, owner, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// Start starts an agent on a database and a platform of a name. Close ends it.
func Start(ctx context.Context, url, platform string, agent Agent) (*Bot, error) {
	store, owner, err := OpenStore(ctx, url)
	if err != nil {
		return nil, err
	}
	b := &Bot{room: newRoom(platform), store: store, session: newID()}
	if err := b.run(owner, agent); err != nil {
		_ = store.Close() // the first error is the one that tells something
		return nil, err
	}
	return b, nil
}

func (b *Bot) run(owner string, agent Agent) error {
	compiled, err := agent(b.store)
	if err != nil {
		return err
	}
	harness, err := chat.New(chat.Options{Graph: compiled})
	if err != nil {
		return err
	}
	service := approvals.NewService(b.store, b.store)
	platforms := []core.Platform{b.room}
	deliver := outbox.New(outbox.Options{Store: b.store, Card: service.Card, Platforms: platforms, Owner: owner})
	b.dispatcher = dispatch.New(dispatch.Options{
		Store: b.store, Approvals: service, Outbox: deliver,
		Platforms: platforms, Harness: harness, Owner: owner, Workers: workers, MaxMessage: maxMessage,
	})
	dispatching, stopDispatching := context.WithCancel(context.Background())
	delivering, stopDelivering := context.WithCancel(context.Background())
	var dispatched, delivered sync.WaitGroup
	dispatched.Go(func() { _ = b.dispatcher.Run(dispatching) })
	delivered.Go(func() { _ = deliver.Run(delivering) })
	b.stop = func() {
		stopDispatching()
		dispatched.Wait()
		stopDelivering()
		delivered.Wait()
	}
	return nil
}

// Close ends the bot, and closes its store.
func (b *Bot) Close() error {
	b.stop()
	return b.store.Close()
}

// Say says a text in a conversation, as a person of its own, and returns when what was posted next is of the kind that
// is wanted.
func (b *Bot) Say(ctx context.Context, c core.ConversationID, text string, want core.PostKind) error {
	payload, err := json.Marshal(text)
	if err != nil {
		return err
	}
	posted := b.room.next(c)
	_, err = b.dispatcher.Accept(ctx, Message(b.room.name, b.session, b.said.Add(1), c, payload))
	if err != nil {
		return err
	}
	select {
	case d := <-posted:
		if d.Kind != want {
			return errKind(d, want)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
