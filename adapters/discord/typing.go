package discord

import (
	"context"
	"net/http"
	"sync"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// Limits of the typing indicator. Discord shows it for ten seconds, or until the bot posts.
const (
	typingEvery = 8 * time.Second
	typingFor   = 90 * time.Second // unless requested again, as dispatch does each minute during a turn
	maxTyping   = 200              // channels at the same time
	openEvery   = 4 * time.Second  // between two reads of the open events, which serve all channels
)

// typing shows the typing indicator where the bot works on an answer.
type typing struct {
	platform *Discord

	mu       sync.Mutex
	ctx      context.Context //nolint:containedctx // of Run: the indicators end with it
	channels map[string]*indicator
	going    sync.WaitGroup

	reading sync.Mutex
	read    time.Time
	busy    map[string]bool // channels with an open event; nil: not known
}

// indicator is one channel where the bot types.
type indicator struct {
	stop  context.CancelFunc
	until time.Time
}

// begin enables indicators until ctx ends. Then going.Wait waits for their end.
func (t *typing) begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx = ctx
}

// start shows the indicator of a channel repeatedly while an event that is answered there is open. If it is shown
// already, start prolongs it.
func (t *typing) start(channel string, show func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := t.platform.Now().Add(typingFor)
	if one := t.channels[channel]; one != nil {
		one.until = until
		return
	}
	if t.ctx == nil || t.ctx.Err() != nil || len(t.channels) >= maxTyping {
		return
	}
	run := t.ctx // a call in progress is not cancelled: net/http may already have given its connection to another call
	ctx, stop := context.WithCancel(run)
	one := &indicator{stop, until}
	t.channels[channel] = one
	t.going.Go(func() {
		defer t.stop(channel, one)
		for ctx.Err() == nil && core.CategoryOf(show(run)) != core.Unsupported {
			t.platform.sleep(ctx, typingEvery)
			if !t.isNeeded(ctx, channel, one) {
				return
			}
		}
	})
}

// isNeeded reports whether an event that is answered in a channel is open, in any process. If that is not known, it
// returns true until the indicator expires.
func (t *typing) isNeeded(ctx context.Context, channel string, one *indicator) bool {
	t.mu.Lock()
	expired := !t.platform.Now().Before(one.until)
	t.mu.Unlock()
	if expired {
		return false
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if now := t.platform.Now(); now.Sub(t.read) >= openEvery {
		t.read, t.busy = now, nil
		if events, err := t.platform.waiting(ctx); err == nil {
			t.busy = map[string]bool{}
			for _, e := range events {
				t.busy[address.Channel(e.Address)] = true
			}
		}
	}
	return t.busy == nil || t.busy[channel]
}

// stop ends the indicator of a channel; if one is not nil, only that one.
func (t *typing) stop(channel string, one *indicator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.channels[channel]; now != nil && (one == nil || one == now) {
		now.stop()
		delete(t.channels, channel)
	}
}

// showTyping shows that the bot is typing where the answer will appear, or stops. Discord itself hides the indicator
// when the answer appears.
func (d *Discord) showTyping(to core.Address, on bool) {
	if !on {
		d.typing.stop(address.Channel(to), nil)
		return
	}
	d.typing.start(address.Channel(to), func(ctx context.Context) error {
		channel := address.Channel(to)
		if open, _ := d.threads.Get(to.Thread); address.StartsThread(to) && !open {
			channel = to.Channel // until the thread is opened
		}
		return d.rest.Call(rest.ForPosts(ctx), http.MethodPost, discordgo.EndpointChannelTyping(channel), nil, nil)
	})
}
