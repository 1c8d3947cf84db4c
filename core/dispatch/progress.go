package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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

// showProgress shows the working states of the turns that last, and their steps, until ctx ends. It is one goroutine
// for all turns: one for each would take as much memory as a tenth of the turn. It sleeps until something is due, or a
// turn or a step begins.
func (d *Dispatcher) showProgress(ctx context.Context) {
	var saying errgroup.Group
	defer saying.Wait() //nolint:errcheck // there are none
	saying.SetLimit(sayingAtOnce)
	for ctx.Err() == nil {
		now := d.Now()
		next := now.Add(workingAgain)
		for _, t := range d.running.all() {
			if p, ok := t.due(now); ok {
				t.progress.saying.Store(true)
				saying.Go(func() error {
					defer t.progress.saying.Store(false)
					t.say(ctx, p)
					return nil
				})
			}
			if again := t.dueAgain(now); again.Before(next) {
				next = again
			}
		}
		d.running.news.wait(ctx, next.Sub(d.Now()))
		pause(ctx, now.Add(progressTick).Sub(d.Now()))
	}
}

// due returns what is to be said of the turn now: its working state, or the list of its tools once that was shown.
func (t *turn) due(now time.Time) (core.Post, bool) {
	p := &t.progress
	if !t.showsProgress() || p.saying.Load() {
		return core.Post{}, false
	}
	if !now.Before(p.next) {
		p.next, p.shown = now.Add(workingAgain), true
		// the store clears it with the turn's Finish, or when the turn's process dies
		working := t.post(core.PostWorking, "working", "")
		working.On = true
		return working, true
	}
	if p.shown && !now.Before(p.rest) && t.steps.changed() {
		p.rest = now.Add(stepsEvery)
		steps := t.post(core.PostSteps, "steps", t.steps.line())
		// the time of day, because the line is not redrawn while it passes
		if steps.Until = t.steps.waitsUntil(now); !steps.Until.IsZero() {
			steps.Text = strings.TrimPrefix(steps.Text+" · ", " · ") +
				fmt.Sprintf(t.Sentences.Waits, steps.Until.Format("15:04 MST"))
		}
		return steps, steps.Text != ""
	}
	return core.Post{}, false
}

// dueAgain returns when due may next have something to say, if no step begins before.
func (t *turn) dueAgain(now time.Time) time.Time {
	p := &t.progress
	switch {
	case !t.showsProgress():
		return now.Add(workingAgain)
	case p.shown && t.steps.changed() && p.rest.Before(p.next):
		return p.rest
	}
	return p.next
}

// showsProgress reports whether people wait for the turn. A click or a control is over at once.
func (t *turn) showsProgress() bool {
	k := t.claim.Event.Kind()
	return k == core.KindMessage || k == core.KindSignal
}

// Added counts what the turn holds.
func (t *turn) Added(all []core.Message) { t.memory.added(all) }

// Evidence keeps what the turn did so far for its Finish.
func (t *turn) Evidence(text json.RawMessage) { t.evidence = text }

// KeepImage stores an image with those of the event.
func (t *turn) KeepImage(ctx context.Context, data []byte) (digest string, err error) {
	return t.Store.PutBlob(ctx, t.claim.Event.Event, data)
}

// say adds a post of a turn that goes on; of one that has ended, the store refuses it. A failure here is not worth a
// turn.
func (t *turn) say(ctx context.Context, p core.Post) {
	if !p.Until.IsZero() {
		_ = t.storeSpent(ctx) // the end of the turn stores it, too
	}
	if err := t.Store.AddPosts(ctx, t.claim, []core.Post{p}); err == nil {
		t.Outbox.Nudge()
	}
}
