package dispatch

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/core"
)

// progress is what is shown of a turn while it runs. Only the goroutine of showProgress uses it, but for saying.
type progress struct {
	next   time.Time // when the working state is shown next
	shown  bool      // it was shown
	rest   time.Time // until when the list of tools is left alone: platforms count how often a message is changed
	saying atomic.Bool
}

// showProgress shows the working states of the turns that last, and their steps, until ctx ends. It is one goroutine for all turns: one for each
// would take as much memory as a tenth of the turn.
func (d *Dispatcher) showProgress(ctx context.Context) {
	var saying errgroup.Group
	defer saying.Wait() //nolint:errcheck // there are none
	saying.SetLimit(sayingAtOnce)
	tick := time.NewTicker(progressTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		for _, t := range d.running.all() {
			if p, ok := t.due(now); ok {
				t.progress.saying.Store(true)
				saying.Go(func() error {
					defer t.progress.saying.Store(false)
					t.say(ctx, p)
					return nil
				})
			}
		}
	}
}

// due returns what is to be said of the turn now: its working state, or the list of its tools once that was shown.
func (t *turn) due(now time.Time) (core.Post, bool) {
	p := &t.progress
	if k := t.claim.Event.Kind(); k != core.KindMessage && k != core.KindSignal || p.saying.Load() {
		return core.Post{}, false
	}
	if !now.Before(p.next) {
		p.next, p.shown = now.Add(workingAgain), true
		working := t.post(core.PostWorking, "working", "") // the store clears it with the turn's Finish, or when the turn's process dies
		working.On = true
		return working, true
	}
	if p.shown && !now.Before(p.rest) && t.steps.changed() {
		p.rest = now.Add(stepsEvery)
		return t.post(core.PostSteps, "steps", t.steps.line()), true
	}
	return core.Post{}, false
}

// say adds a post of a turn that goes on; of one that has ended, the store refuses it. A failure here is not worth a turn.
func (t *turn) say(ctx context.Context, p core.Post) {
	if err := t.Store.AddPosts(ctx, t.claim, []core.Post{p}); err == nil {
		t.Delivered()
	}
}
