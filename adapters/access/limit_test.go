package access_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/adapters/access"
)

// doors are the ways in which a request shows a token.
var doors = map[string]func(ctx context.Context, g *access.Gate, peer, token string) error{
	"login": func(ctx context.Context, g *access.Gate, peer, token string) error {
		r := request("POST").WithContext(ctx)
		r.RemoteAddr = peer
		return g.Login(httptest.NewRecorder(), r, token)
	},
	"bearer": func(ctx context.Context, g *access.Gate, peer, token string) error {
		r := request("POST", "Authorization: Bearer "+token).WithContext(ctx)
		r.RemoteAddr = peer
		_, err := g.Identify(r)
		return err
	},
	"metrics": func(ctx context.Context, g *access.Gate, peer, token string) error {
		r := request("GET", "Authorization: Bearer "+token, "X-Forwarded-For: 10.0.0.1").WithContext(ctx)
		r.RemoteAddr = peer
		if token == annToken {
			r.Header.Set("Authorization", "Bearer "+metricsToken)
		}
		return g.Metrics(r)
	},
}

// TestARightTokenPassesBesideWrongOnes: somebody at the same address sends a wrong one every 100 ms.
func TestARightTokenPassesBesideWrongOnes(t *testing.T) {
	for name, try := range doors {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, newClock(), people)
			ctx, stop := context.WithCancel(t.Context())
			var guessing sync.WaitGroup
			guessing.Go(func() {
				for ctx.Err() == nil {
					guessing.Go(func() {
						refused(t, name+": a guess", try(t.Context(), g, "10.0.0.1:1", "guess"), 401)
					})
					time.Sleep(100 * time.Millisecond)
				}
			})
			for range 60 {
				began := time.Now()
				if err := try(t.Context(), g, "10.0.0.1:2", annToken); err != nil || time.Since(began) > 0 {
					t.Errorf("%s: a right token gives %v after %s", name, err, time.Since(began))
				}
				time.Sleep(2 * time.Second)
			}
			stop()
			guessing.Wait()
		})
	}
}

// TestWrongTokensWait for a second: 20 of an address and 200 of all; further ones are refused at once.
func TestWrongTokensWait(t *testing.T) {
	for name, try := range doors {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, newClock(), people)
			var all sync.WaitGroup
			var answered atomic.Int32
			guess := func(peer string) {
				all.Go(func() {
					refused(t, name+": a guess", try(t.Context(), g, peer, "guess"), 401)
					answered.Add(1)
				})
				synctest.Wait()
			}
			for i := range 20 { // of a network of IPv6, which one machine may have
				guess(fmt.Sprintf("[2001:db8::%x]:1", i+1))
			}
			refused(t, name+": one more of the address", try(t.Context(), g, "[2001:db8::ffff]:1", "guess"), 429)
			for i := range 180 {
				guess(fmt.Sprintf("10.0.0.%d:1", i+1))
			}
			refused(t, name+": one more of all", try(t.Context(), g, "10.2.0.1:1", "guess"), 429)
			time.Sleep(time.Second - time.Millisecond)
			if n := answered.Load(); n > 0 {
				t.Errorf("%s: %d are answered before the second is over", name, n)
			}
			if err := try(t.Context(), g, "10.2.0.1:1", annToken); err != nil {
				t.Errorf("%s: a right token gives %v", name, err)
			}
			all.Wait()
			began := time.Now()
			refused(t, name+": a guess later", try(t.Context(), g, "10.2.0.1:1", "guess"), 401)
			if waited := time.Since(began); waited != time.Second {
				t.Errorf("%s: it waits for %s", name, waited)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			began = time.Now()
			refused(t, name+": a guess of somebody who has gone", try(gone, g, "10.2.0.1:1", "guess"), 401)
			if waited := time.Since(began); waited != 0 {
				t.Errorf("%s: nobody waits, and it takes %s", name, waited)
			}
		})
	}
}
