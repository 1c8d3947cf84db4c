package discord

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// Numbers of the typing indicator. Discord shows it for ten seconds, or until the bot posts.
const (
	typingEvery = 8 * time.Second
	typingFor   = 90 * time.Second // unless it is asked for again, as dispatch does each minute while a turn goes on
	maxTyping   = 200              // channels at a time
	openEvery   = 4 * time.Second  // between two reads of the open events, for all channels at once
)

// typing shows the typing indicator where the bot works on an answer.
type typing struct {
	now   func() time.Time
	sleep func(context.Context, time.Duration)
	open  func(context.Context) ([]core.EventRecord, error) // Options.Open

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

func newTyping(now func() time.Time, sleep func(context.Context, time.Duration), open func(context.Context) ([]core.EventRecord, error)) *typing {
	return &typing{now: now, sleep: sleep, open: open, channels: map[string]*indicator{}}
}

// begin allows indicators until ctx ends.
func (t *typing) begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx = ctx
}

// end stops all indicators, and returns when none is left.
func (t *typing) end() {
	t.mu.Lock()
	t.ctx = nil
	for _, one := range t.channels {
		one.stop()
	}
	t.mu.Unlock()
	t.going.Wait()
}

// start shows the indicator of a channel again and again, as long as an event that is answered there is open, or prolongs it.
func (t *typing) start(channel string, show func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	until := t.now().Add(typingFor)
	if one := t.channels[channel]; one != nil {
		one.until = until
		return
	}
	if t.ctx == nil || len(t.channels) >= maxTyping {
		return
	}
	run := t.ctx // a call that is under way is not cancelled: net/http may give its connection to another one meanwhile
	ctx, stop := context.WithCancel(run)
	one := &indicator{stop, until}
	t.channels[channel] = one
	t.going.Go(func() {
		defer t.remove(channel, one)
		for ctx.Err() == nil && core.CategoryOf(show(run)) != core.Unsupported {
			t.sleep(ctx, typingEvery)
			if !t.goesOn(ctx, channel, one) {
				return
			}
		}
	})
}

// goesOn reports whether an event that is answered in a channel is open, in whatever process; where that can't be told it does until the
// indicator expires.
func (t *typing) goesOn(ctx context.Context, channel string, one *indicator) bool {
	t.mu.Lock()
	expired := !t.now().Before(one.until)
	t.mu.Unlock()
	if expired || t.open == nil {
		return !expired
	}
	t.reading.Lock()
	defer t.reading.Unlock()
	if now := t.now(); now.Sub(t.read) >= openEvery {
		t.read, t.busy = now, nil
		if events, err := t.open(ctx); err == nil {
			t.busy = map[string]bool{}
			for _, e := range events {
				t.busy[channelOf(e.Address)] = true
			}
		}
	}
	return t.busy == nil || t.busy[channel]
}

// stop ends the indicator of a channel.
func (t *typing) stop(channel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.channels[channel]; one != nil {
		one.stop()
		delete(t.channels, channel)
	}
}

func (t *typing) remove(channel string, one *indicator) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.stop()
	if t.channels[channel] == one {
		delete(t.channels, channel)
	}
}

// showTyping shows that the bot is typing where the answer will stand, or ends that. What is shown already ends with the answer itself.
func (d *Discord) showTyping(to core.Address, on bool) {
	if !on {
		d.typing.stop(channelOf(to))
		return
	}
	d.typing.start(channelOf(to), func(ctx context.Context) error {
		channel := channelOf(to)
		if open, _ := d.threads.isOpen(to.Thread); startsThread(to) && !open {
			channel = to.Channel // until the thread is opened
		}
		return d.rest.Call(ctx, http.MethodPost, discordgo.EndpointChannelTyping(channel), nil, nil)
	})
}
