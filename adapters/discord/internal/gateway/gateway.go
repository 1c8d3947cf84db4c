// Package gateway receives Discord's events over websockets: it holds the shards of one bot, resumes their sessions, and hands each event
// to the adapter in order.
//
//	gateway.go      the parts; all shards
//	shard.go        hold a shard by a lease, so that one process receives its events
//	connect.go      open one connection of a shard after the other
//	connection.go   one connection: hello, identify or resume, heartbeats, events
//	close.go        why a connection ended, and what comes next
//	order.go        events in order, up to their commit; the sequence number
//	session.go      what a session is resumed from, in the store
//	budget.go       how often the bot may identify
//	catchup.go      fetch what was missed where a session could not be resumed
//	health.go       whether each shard is connected
//
// The gateway has no acknowledgement. So the sequence number that a session is resumed from is that of the last event that was committed
// with all before it: a killed process resumes there, and Discord replays what followed. Why this is not discordgo's session: that keeps
// its session id, sequence number and resume address private, so that a restarted process could only identify again, of which there are
// 1,000 a day; it identifies by itself, without asking for that budget; and it advances the sequence number before its handlers have run.
package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Options are a gateway's parts. All but Conversations are needed.
type Options struct {
	REST   *rest.Client
	KV     core.KV // sessions, who holds a shard, the budget of identifies
	Token  string
	Shards int           // 0: as many as Discord recommends
	Owner  string        // of shards; the process's own name
	Lease  time.Duration // of a shard: how long it stays with a process that has died

	// Intents are what events the bot asks for. Where they change, a new session begins.
	Intents func() discordgo.Intent
	// IntentsRefused is told that Discord refuses the intents; it reports whether there are others to ask for.
	IntentsRefused func() bool
	// Ready is told the application's id, by a new session.
	Ready func(application string)
	// Take takes an event up to its commit. What is NotStored is tried again.
	Take func(ctx context.Context, event string, data []byte) chat.Result
	// Known reports whether an event can be stored without asking Discord where it belongs.
	Known func(Location) bool
	// Conversations gives those whose missed messages are fetched, the latest first; nil: none are.
	Conversations func(ctx context.Context) ([]Conversation, error)

	Sleep  func(context.Context, time.Duration)
	Jitter func() float64 // from 0 to 1
	Log    *slog.Logger
}

// Gateway receives the events of one bot.
type Gateway struct {
	Options
	health health
}

// New makes a gateway; nothing is connected before Run.
func New(o Options) *Gateway {
	if o.Lease <= 0 || o.Lease > MaxLease {
		o.Lease = MaxLease
	}
	return &Gateway{Options: o}
}

// Run receives the events of all shards that this process can hold, until ctx ends. bot is the bot's own user id. Error: going on is
// useless; see IsFatal.
func (g *Gateway) Run(ctx context.Context, bot string) error {
	of := g.Shards
	if of == 0 {
		told, err := g.ask(ctx, nil)
		if err != nil || ctx.Err() != nil {
			return err
		}
		of = max(told.Shards, 1)
	}
	g.health.expect(of)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for n := range of {
		s := &shard{Gateway: g, n: n, of: of, bot: bot, session: newSessionStore(g, n)}
		all.Go(func() {
			if err := s.run(ctx); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); IsFatal(err) {
		return err
	}
	return nil
}

// IsFatal reports an error that no retry can mend: only somebody who changes the token, the application or the configuration.
func IsFatal(err error) bool {
	switch core.CategoryOf(err) {
	case core.Unauthorized, core.Unsupported, core.Invalid:
		return true
	}
	return false
}

// Health is nil where every shard is connected, here or at another process.
func (g *Gateway) Health() error { return g.health.err(time.Now()) }

func (g *Gateway) jitter(d time.Duration) time.Duration { return chat.Jitter(d, g.Jitter()) }
