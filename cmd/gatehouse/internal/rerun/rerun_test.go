package rerun

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
)

// stopping is a platform whose runs end with an error until it is mended.
type stopping struct {
	core.Platform
	runs   atomic.Int32
	mended atomic.Bool
}

func (*stopping) Name() string { return "stopping" }

func (p *stopping) Run(ctx context.Context, _ core.Accept) error {
	p.runs.Add(1)
	if !p.mended.Load() {
		return core.Errorf(core.Unauthorized, "The token is refused.")
	}
	<-ctx.Done()
	return nil
}

func TestAPlatformThatStopsBeginsAgainBesideAnotherOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := &stopping{}, &stopping{}
		good.mended.Store(true)
		all := New(2, slog.New(slog.DiscardHandler))
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, p := range []*stopping{bad, good} {
			running.Go(func() {
				if err := all.Run(ctx, p, nil); err != nil {
					t.Errorf("%v", err)
				}
			})
		}
		time.Sleep(24 * time.Hour)
		if n := bad.runs.Load(); n < 100 || n > 400 { // Discord counts up to 1,000 of what follows
			t.Errorf("it began %d times in a day", n)
		}
		bad.mended.Store(true)
		time.Sleep(longest)
		before := bad.runs.Load()
		time.Sleep(time.Hour)
		if bad.runs.Load() != before {
			t.Error("it was not left running")
		}
		stop()
		running.Wait()
	})
}

func TestWhenAllPlatformsHaveStoppedGatehouseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &stopping{}, &stopping{}
		all := New(2, slog.New(slog.DiscardHandler))
		began := time.Now()
		errs := make([]error, 2)
		var running sync.WaitGroup
		running.Go(func() { errs[0] = all.Run(t.Context(), first, nil) })
		running.Go(func() {
			time.Sleep(time.Second)
			errs[1] = all.Run(t.Context(), second, nil)
		})
		running.Wait()
		if core.CategoryOf(errors.Join(errs...)) != core.Unauthorized || errs[0] == nil || errs[1] == nil {
			t.Errorf("%v", errs)
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("it ended after %s", d)
		}
	})
}
