package dispatch

import (
	"context"
	"sync"
	"time"

	"gatehouse/core"
)

// showProgress shows the working state of a turn that lasts, and its steps, until the returned function is called.
func (t *turn) showProgress(ctx context.Context) func() {
	if k := t.claim.Event.Kind(); k != core.KindMessage && k != core.KindSignal {
		return func() {}
	}
	ctx = context.WithoutCancel(ctx)
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { t.progress(ctx, quit) })
	return func() {
		close(quit)
		done.Wait()
	}
}

func (t *turn) progress(ctx context.Context, quit <-chan struct{}) {
	working := time.NewTimer(workingAfter)
	defer working.Stop()
	var stepped wake         // set once the working state is shown
	rest := time.NewTimer(0) // after a line of steps: platforms count how often a message is changed
	defer rest.Stop()
	shown := false
	for {
		select {
		case <-quit:
			return
		case <-working.C:
			if !shown {
				shown, stepped = true, t.steps.news
			}
			t.showWorking(ctx)
			working.Reset(workingAgain)
		case <-stepped:
			t.say(ctx, t.post(core.PostSteps, "steps", t.steps.line()))
			stepped = nil
			rest.Reset(stepsEvery)
		case <-rest.C:
			if shown {
				stepped = t.steps.news
			}
		}
	}
}

// showWorking puts the working state into the outbox; the store clears it with the turn's Finish, or when the turn's process dies.
func (t *turn) showWorking(ctx context.Context) {
	p := t.post(core.PostWorking, "working", "")
	p.On = true
	t.say(ctx, p)
}

// say adds a post of a turn that goes on. A failure here is not worth a turn.
func (t *turn) say(ctx context.Context, p core.Post) {
	if err := t.Store.AddPosts(ctx, t.claim, []core.Post{p}); err == nil {
		t.Delivered()
	}
}
