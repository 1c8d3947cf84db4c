// Package gateway receives Discord's events over websockets. It holds the shards of one bot, resumes their sessions,
// and passes the events to the adapter in order.
//
//	gateway.go      options and types; whether each shard is connected
//	shards.go       all shards; each is held by a lease, so that one process receives its events
//	reconnect.go    the connections of a shard, one after the other; why each ended, and what comes next
//	budget.go       how often the bot may identify
//	connection.go   one connection: hello, identify or resume, heartbeats, events
//	order.go        events up to their commit: in order within a channel, several channels at a time
//	catchup.go      fetching what was missed when a session could not be resumed, beside the events
//	backlog.go      the stored list of what is still to be fetched
//	fetch.go        fetching the messages of one conversation
//	missed.go       what is passed over in that
//	session.go      the stored state that a session is resumed from
//
// The gateway has no acknowledgement. Instead, a session is resumed from the sequence number of the last event that was
// committed together with all before it. A killed process resumes there, and Discord replays what followed. If the
// session can't be resumed, a new one begins, and what was missed is fetched. What is to be fetched is stored in three
// steps, and a crash between any two repeats the later ones:
//
//  1. With the session: that it began after a gap, and the last message before that.
//  2. The conversations in which messages may be missing, with the message from which on: the backlog. Then the session
//     no longer says that there is a gap. No message is committed before.
//  3. Each conversation that is fetched is taken off the backlog.
//
// discordgo's session can't be used for this. It keeps its session id, sequence number and resume address private, so a
// restarted process could only identify again, which Discord allows 1,000 times a day. It identifies by itself, without
// regard to that budget. And it advances the sequence number before its handlers have run.
package gateway

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Options configure a gateway. All are required.
type Options struct {
	REST   *rest.Client
	KV     core.KV // sessions, backlogs, shard leases, the identify budget
	Token  string
	Shards int           // 0: as many as Discord recommends
	Owner  string        // of shard leases: this process's name
	Lease  time.Duration // of a shard: how long a dead process keeps it

	Now    func() time.Time
	Jitter func() float64 // from 0 to 1
	Log    *slog.Logger
}

// Receiver is the adapter that receives the gateway's events, as far as the gateway calls it.
type Receiver interface {
	// Take processes an event up to its commit. An event that is NotStored is tried again.
	Take(ctx context.Context, event string, data []byte) inbound.Result
	// Ready is called with the application's id when a new session begins.
	Ready(application string)
	// Intents returns the intents to ask for. When they change, a new session begins.
	Intents() discordgo.Intent
	// IntentsRefused is called when Discord refuses the intents. It reports whether there are others to ask for.
	IntentsRefused() bool
	// Known reports whether an event can be stored without asking Discord which channel it belongs to.
	Known(Location) bool
	// Parent returns the channel of a thread, "" if the channel is none or that is not known.
	Parent(channel string) string
	// Conversations returns the conversations whose missed messages are fetched, latest first.
	Conversations(context.Context) ([]Conversation, error)
	// Sleep returns after a time, or when the context ends.
	Sleep(context.Context, time.Duration)
}

// Gateway receives the events of one bot.
type Gateway struct {
	Options
	Receiver // of Run

	opened       atomic.Int64 // connections
	sessionsLeft atomic.Int64 // identifies that Discord still allows today; negative: it has not said so

	healthMu sync.Mutex
	health   []shardState // by shard
	why      error        // why there are none yet
}

// shardState is whether a shard's events are received (law 9).
type shardState struct {
	connected bool      // by this process
	elsewhere time.Time // until then, another process presumably holds it
	why       error     // why its events are not received
}

// New makes a gateway. It connects nothing; Run does.
func New(o Options) *Gateway {
	if o.Lease <= 0 || o.Lease > MaxLease {
		o.Lease = MaxLease
	}
	g := &Gateway{Options: o}
	g.sessionsLeft.Store(-1)
	return g
}

// Connections is core.Connector's.
func (g *Gateway) Connections() (opened int64, sessionsLeft int) {
	return g.opened.Load(), int(g.sessionsLeft.Load())
}

// isFatal reports whether an error is permanent: only a change of the token, the application or the configuration can
// resolve it.
func isFatal(err error) bool {
	switch core.CategoryOf(err) {
	case core.Unauthorized, core.Unsupported, core.Invalid:
		return true
	}
	return false
}

// Health returns nil if every shard is connected, in this or another process.
func (g *Gateway) Health() error {
	g.healthMu.Lock()
	defer g.healthMu.Unlock()
	switch {
	case len(g.health) == 0 && g.why != nil:
		return g.why
	case len(g.health) == 0:
		return core.Errorf(core.DeliveryLater, "There is no connection to Discord yet, so no events are received.")
	}
	for n, s := range g.health {
		switch {
		case s.connected || time.Now().Before(s.elsewhere):
		case s.why != nil:
			return s.why
		default:
			return core.Errorf(core.DeliveryLater,
				"Shard %d has no connection to Discord, so no events of its servers are received.", n)
		}
	}
	return nil
}

func (g *Gateway) jitter(d time.Duration) time.Duration { return outbound.Jitter(d, g.Jitter()) }

// Conversation is a channel or thread whose missed messages are fetched.
type Conversation struct {
	Channel string
	Guild   string // or address.Direct
	Last    string // its latest known message
	Begins  string // of a thread: messages before this id were not for the bot
}

// Location is the part of an event that determines its order. It is zero if the event belongs to no conversation.
type Location struct {
	Message string                 `json:"id"`
	Channel string                 `json:"channel_id"`
	Guild   string                 `json:"guild_id"`
	In      *discordgo.ChannelType `json:"channel_type"` // nil: not said
	Roles   []string               `json:"mention_roles"`
}

// MaxLease is the longest that a dead process keeps a shard. Discord still keeps the session for that long.
const MaxLease = 30 * time.Second
