// Package gateway receives Discord's events over websockets: it holds the shards of one bot, resumes their sessions, and hands each event
// to the adapter in order.
//
//	gateway.go      the parts
//	run.go          all shards; hold each by a lease, so that one process receives its events
//	connect.go      open one connection of a shard after the other
//	budget.go       how often the bot may identify
//	connection.go   one connection: hello, identify or resume, heartbeats, events
//	close.go        why a connection ended, and what comes next
//	order.go        events in order, up to their commit
//	catchup.go      fetch what was missed where a session could not be resumed
//	event.go        one event, up to its commit
//	session.go      what a session is resumed from, in the store
//	shard.go        which events are a shard's
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

// Times between attempts to reach Discord or the store.
const (
	firstRetry = time.Second
	maxRetry   = time.Minute
)

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

// Conversation is a channel or thread whose missed messages are fetched.
type Conversation struct {
	Channel string
	Guild   string // or Direct
	Last    string // the latest message of it that is known
	Begins  string // in a thread: nothing before it was for the bot
}

// Location is what must be known of an event to keep it in its order. Its zero value: the event belongs to no conversation.
type Location struct {
	Message string   `json:"id"`
	Channel string   `json:"channel_id"`
	Guild   string   `json:"guild_id"`
	Roles   []string `json:"mention_roles"`
}

// MaxLease is the longest that a shard stays with a process that has died: Discord still has the session then.
const MaxLease = 30 * time.Second

// Direct stands for the guild of direct messages in a Conversation.
const Direct = "@me"
