package dispatch

import (
	"context"
	"sync"
	"time"

	"gatehouse/core"
)

// holdLease renews the turn's lease in the background. The turn runs in the returned context, which ends with ctx, or with the cause
// errLost or errStopped.
func (t *turn) holdLease(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t.ledger.cut = cancel
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() { t.watch(context.WithoutCancel(ctx), quit, cancel) })
	return ctx, func() {
		close(quit)
		done.Wait()
		cancel(nil)
	}
}

// watch renews the lease, polls for stop requests, and shows the typing indicator and the list of tools, until quit is closed.
func (t *turn) watch(ctx context.Context, quit chan struct{}, cancel context.CancelCauseFunc) {
	renew, poll, working := time.NewTicker(t.Lease/3), time.NewTicker(stopPoll/2), time.NewTimer(workingAfter)
	defer renew.Stop()
	defer poll.Stop()
	defer working.Stop()
	var stepped wake         // nil while the list of tools must not be sent
	rest := time.NewTimer(0) // after a list was sent: platforms limit the rate of edits
	defer rest.Stop()
	until, shown := time.Now().Add(t.Lease), false
	for {
		select {
		case <-quit:
			return
		case <-renew.C:
			sent := time.Now()
			switch err := t.Store.Renew(ctx, t.claim, t.Lease); {
			case err == nil:
				until = sent.Add(t.Lease)
			case core.CategoryOf(err) == core.LeaseLost || time.Now().After(until):
				cancel(errLost)
				return
			default:
				t.log.Warn("renewing the lease failed; retrying", "category", core.CategoryOf(err), "err", err)
			}
		case <-poll.C:
			if asked, err := t.Store.StopRequested(ctx, t.claim); err == nil && asked {
				t.ledger.stop()
			}
		case <-working.C:
			if k := t.claim.Event.Kind(); k != core.KindMessage && k != core.KindSignal {
				continue
			}
			if !shown {
				shown, stepped = true, t.steps.news
			}
			p := t.post(core.PostWorking, "working", "") // Finish clears it, or the next claim of the queue
			p.On = true
			t.add(ctx, p)
			working.Reset(workingAgain)
		case <-stepped:
			t.add(ctx, t.post(core.PostSteps, "steps", t.steps.line()))
			stepped = nil
			rest.Reset(stepsEvery)
		case <-rest.C:
			if shown {
				stepped = t.steps.news
			}
		}
	}
}

// add adds a post while the turn runs. An error is ignored: such a post is not worth failing the turn.
func (t *turn) add(ctx context.Context, p core.Post) {
	if err := t.Store.AddPosts(ctx, t.claim, []core.Post{p}); err == nil {
		t.Delivered()
	}
}
