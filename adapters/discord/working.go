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
	typeLong  = 10 * time.Minute // at most, for one answer: another process may have sent it
	typeMost  = 200              // places at a time
)

// typist keeps the typing indicator alive where the bot works on an answer.
type typist struct {
	wait func(context.Context, time.Duration)

	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // of Run: what types ends with it
	places map[string]*typing
	going  sync.WaitGroup
}

// typing is one conversation that the bot types in.
type typing struct{ stop context.CancelFunc }

func newTypist() *typist {
	return &typist{wait: wait, places: map[string]*typing{}}
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

// start types in a place again and again, unless that goes on already.
func (t *typist) start(place string, once func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil || t.places[place] != nil || len(t.places) >= typeMost {
		return
	}
	run := t.ctx // a call that is under way is not cut: net/http may give its connection to another one meanwhile
	ctx, stop := context.WithTimeout(run, typeLong)
	one := &typing{stop}
	t.places[place] = one
	t.going.Go(func() {
		defer t.gone(place, one)
		for ctx.Err() == nil && core.CategoryOf(once(run)) != core.Unsupported {
			t.wait(ctx, typeEvery)
		}
	})
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
	if t.places[place] == one {
		delete(t.places, place)
	}
}

// Working shows that the bot is typing where the answer will stand, and ends that. What is shown already ends with the answer itself.
func (d *Discord) Working(_ context.Context, to core.Address, on bool) error {
	if !on {
		d.out.typing.stop(placeOf(to))
		return nil
	}
	d.out.typing.start(placeOf(to), func(ctx context.Context) error {
		place := placeOf(to)
		if there, _ := d.out.threads.know(to.Thread); begins(to) && !there {
			place = to.Channel // until the thread is opened
		}
		return d.call(ctx, http.MethodPost, "/channels/"+place+"/typing", nil, nil)
	})
	return nil
}
