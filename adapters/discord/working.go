package discord

import (
	"context"
	"net/http"
	"sync"
	"time"

	"gatehouse/core"
)

// Numbers of the typing indicator. Discord shows it for ten seconds, or until the bot says something.
const (
	typeEvery = 8 * time.Second
	typeLease = 90 * time.Second // unless it is said anew, as dispatch does each minute while a turn goes on
	typeMost  = 200              // places at a time
	askEvery  = 4 * time.Second  // what is not ended, for all places at once
)

// typist keeps the typing indicator alive where the bot works on an answer.
type typist struct {
	wait  func(context.Context, time.Duration)
	now   func() time.Time
	open  func(context.Context) ([]core.EventRecord, error) // Options.Open
	lease time.Duration

	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // of Run: what types ends with it
	places map[string]*typing
	going  sync.WaitGroup

	asking sync.Mutex
	asked  time.Time
	busy   map[string]bool // places with something that is not ended; nil: it is not known
}

// typing is one place where the bot types.
type typing struct {
	stop  context.CancelFunc
	lease *time.Timer
}

func newTypist(d *Discord) *typist {
	return &typist{wait: wait, now: d.Now, open: d.Open, lease: typeLease, places: map[string]*typing{}}
}

// begin lets places be typed in until ctx ends.
func (t *typist) begin(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx = ctx
}

// end stops typing everywhere, and returns when nobody types any more.
func (t *typist) end() {
	t.mu.Lock()
	t.ctx = nil
	for _, one := range t.places {
		one.stop()
	}
	t.mu.Unlock()
	t.going.Wait()
}

// start types where a place says again and again, as long as something that is answered there is not ended, or goes on where it does already.
func (t *typist) start(place string, once func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.places[place]; one != nil {
		one.lease.Reset(t.lease)
		return
	}
	if t.ctx == nil || len(t.places) >= typeMost {
		return
	}
	run := t.ctx // a call that is under way is not cut: net/http may give its connection to another one meanwhile
	ctx, stop := context.WithCancel(run)
	one := &typing{stop, time.AfterFunc(t.lease, stop)}
	t.places[place] = one
	t.going.Go(func() {
		defer t.gone(place, one)
		for ctx.Err() == nil && core.CategoryOf(once(run)) != core.Unsupported {
			t.wait(ctx, typeEvery)
			if !t.goesOn(ctx, place) {
				return
			}
		}
	})
}

// goesOn reports whether something that is answered in a place is not ended, in whatever process; where that can't be told it does.
func (t *typist) goesOn(ctx context.Context, place string) bool {
	if t.open == nil {
		return true
	}
	t.asking.Lock()
	defer t.asking.Unlock()
	if now := t.now(); now.Sub(t.asked) >= askEvery {
		t.asked, t.busy = now, nil
		if events, err := t.open(ctx); err == nil {
			t.busy = map[string]bool{}
			for _, e := range events {
				t.busy[placeOf(e.Address)] = true
			}
		}
	}
	return t.busy == nil || t.busy[place]
}

func (t *typist) stop(place string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.places[place]; one != nil {
		one.stop()
		delete(t.places, place)
	}
}

func (t *typist) gone(place string, one *typing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.stop()
	one.lease.Stop()
	if t.places[place] == one {
		delete(t.places, place)
	}
}

// working shows that the bot is typing where the answer will stand, and ends that. What is shown already ends with the answer itself.
func (d *Discord) working(to core.Address, on bool) {
	if !on {
		d.out.typing.stop(placeOf(to))
		return
	}
	d.out.typing.start(placeOf(to), func(ctx context.Context) error {
		place := placeOf(to)
		if there, _ := d.out.threads.know(to.Thread); begins(to) && !there {
			place = to.Channel // until the thread is opened
		}
		return d.call(ctx, http.MethodPost, "/channels/"+place+"/typing", nil, nil)
	})
}
