package keylock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"gatehouse/core/keylock"
)

// TestOneAtATime: of a key one holds the lock, others wait for it or give up; other keys are free.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l keylock.Locks[string]
		release, err := l.Take(t.Context(), "ann")
		if err != nil {
			t.Fatal(err)
		}
		if other, err := l.Take(t.Context(), "bob"); err != nil {
			t.Fatal(err)
		} else {
			other()
		}
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		waits := make(chan error)
		go func() {
			_, err := l.Take(ctx, "ann")
			waits <- err
		}()
		synctest.Wait()
		cancel(enough)
		if err := <-waits; !errors.Is(err, enough) {
			t.Errorf("who gives up is told %v", err)
		}
		next := make(chan func())
		go func() {
			free, _ := l.Take(t.Context(), "ann")
			next <- free
		}()
		synctest.Wait()
		select {
		case <-next:
			t.Error("two hold the lock")
		default:
		}
		release()
		(<-next)()
	})
}
