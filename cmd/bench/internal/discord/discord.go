// Package discord is a Discord for benches, and the people on it: it knows what a bot needs to answer mentions in
// channels, which it sends over the gateway, or slash commands, which it posts. adapters/discord/discordtest is the one
// for tests: it knows far more, and costs far more time.
//
// The gateway has no acknowledgements. What is sent while no session is open can only be read by REST, as on Discord.
package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/mix"
	"gatehouse/cmd/bench/internal/wire"
)

// Discord is one server (a guild) with one bot. It believes every token, and does to posts what the plan's mode says.
type Discord struct {
	plan    load.Plan
	ledger  *ledger.Ledger
	server  *wire.Server
	sockets *wire.Sockets
	to      []*url.URL // where the instances of the bot take commands; none: there are mentions instead
	key     ed25519.PrivateKey
	turn    atomic.Int64 // to which of them the next sender sends
	resent  atomic.Int64
	presses sync.WaitGroup

	mu        sync.Mutex
	lastID    int64
	posts     int
	tally     load.Tally
	messages  map[string][]message // by channel, oldest first: the last ones
	nonces    map[string][]byte    // the answers to the posts by their nonce, since turned
	older     map[string][]byte    // those of the time before
	turned    time.Time
	session   *session             // nil: none is open
	commands  map[int][]byte       // by event
	originals map[string]*original // the answers to commands by their tokens
}

// message is what can be read back of a message.
type message struct {
	id   int64
	json []byte
}

var _ load.Platform = (*Discord)(nil)

// Start starts a Discord that sends mentions over the gateway, or, if there are URLs of a bot's instances, posts
// commands to them. Close ends it.
func Start(book *ledger.Ledger, p load.Plan, interactions ...string) (*Discord, error) {
	d := &Discord{
		plan: p, ledger: book, tally: load.Tally{Calls: map[string]int{}}, messages: map[string][]message{},
		nonces: map[string][]byte{}, turned: time.Now(),
		commands: map[int][]byte{}, originals: map[string]*original{},
		key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
	}
	for _, address := range interactions {
		to, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		d.to = append(d.to, to)
	}
	var err error
	if d.sockets, err = wire.ServeSockets(d.serve); err != nil {
		return nil, err
	}
	if d.server, err = wire.Serve(d.answer); err != nil {
		d.sockets.Close()
		return nil, err
	}
	return d, nil
}

// Env are the variables by which a bot finds it.
func (d *Discord) Env(port string) []string {
	env := []string{
		"DISCORD_BOT_TOKEN=OTAwMDAw.bench.bench", "DISCORD_API_URL=http://" + d.server.Address() + "/api/v10",
	}
	if len(d.to) > 0 {
		env = append(env, "DISCORD_PUBLIC_KEY="+hex.EncodeToString(d.key[ed25519.SeedSize:]), "PORT="+port)
	}
	return env
}

// Ready reports whether a session is open.
func (d *Discord) Ready() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session != nil
}

// Tally is what came besides the replies.
func (d *Discord) Tally() load.Tally {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.tally
	t.Calls, t.Resent = maps.Clone(t.Calls), int(d.resent.Load())
	return t
}

// Close ends it.
func (d *Discord) Close() {
	d.presses.Wait()
	d.server.Close()
	d.sockets.Close()
}

// Send sends events; see load.Platform. A session is one connection, so there is one sender, and the messages of a
// channel are in order.
func (d *Discord) Send(ctx context.Context, first, end int, sent func(n int)) error {
	if len(d.to) > 0 {
		return d.sendCommands(ctx, first, end, sent)
	}
	plan := d.plan
	plan.Senders = 1
	return load.Send(ctx, plan, d.ledger, first, end, sent, func() (load.Deliver, func()) {
		var last []byte // what was sent last, to be sent again
		return func(_ context.Context, n int, again bool) error {
			d.mu.Lock()
			if !again {
				last = d.mention(n)
			}
			to := d.session
			d.mu.Unlock()
			to.dispatch("MESSAGE_CREATE", last)
			return nil
		}, func() {}
	})
}

// The ids of the server, the bot, its application, the first channel and the first person.
const (
	guild       = "200000000000000000"
	bot         = "900000000000000002"
	application = "900000000000000001"
	channel     = 300000000000000000
	person      = 100000000000000000
)

const botUser = `{"id":"` + bot +
	`","username":"bench","discriminator":"0","global_name":null,"avatar":null,"bot":true}`

// place returns the channel that an event is in. One that leads to a card has a channel of its own: what is said where
// a turn waits for an approval is another kind of message.
func (d *Discord) place(n int) string {
	if d.asks(n) {
		return strconv.FormatInt(int64(channel+d.plan.Threads+n), 10)
	}
	return strconv.FormatInt(int64(channel+n%d.plan.Threads), 10)
}

// words is what the nth event says.
func (d *Discord) words(n int) string {
	if d.plan.Mix {
		return mix.Words(n)
	}
	return ledger.Mark(n) + " how are you?"
}

// newID makes an id, which has the time in it. The caller holds the lock.
func (d *Discord) newID() int64 {
	const epoch = 1420070400000
	d.lastID = max(d.lastID+1, (time.Now().UnixMilli()-epoch)<<22)
	return d.lastID
}

// mention makes and stores the nth event, a mention of the bot in a channel. The caller holds the lock.
func (d *Discord) mention(n int) []byte {
	id, in := d.newID(), d.place(n)
	who := strconv.FormatInt(int64(person+n%d.plan.Senders), 10)
	text := fmt.Appendf(nil,
		`{"id":"%d","channel_id":"%s","guild_id":"%s","author":{"id":"%s","username":"ann%s","discriminator":"0",`+
			`"global_name":"Ann",`+
			`"avatar":null},"member":{"roles":[],"joined_at":"2024-01-01T00:00:00+00:00","nick":null,`+
			`"deaf":false,"mute":false,"flags":0},`+
			`"content":"<@%s> %s","timestamp":"%s","edited_timestamp":null,"tts":false,"mention_everyone":false,`+
			`"mentions":[%s],`+
			`"mention_roles":[],"attachments":[],"embeds":[],"components":[],"pinned":false,"type":0,`+
			`"channel_type":0,"flags":0}`,
		id, in, guild, who, who, bot, d.words(n), time.Now().UTC().Format("2006-01-02T15:04:05.000000+00:00"), botUser)
	d.keep(in, message{id: id, json: text})
	return text
}
