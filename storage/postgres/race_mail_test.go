package postgres_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"gatehouse/core"
)

// TestRace_MailIsLockedInOneOrder: much mail is put, taken, pruned and erased at once. Nothing has to be repeated.
func TestRace_MailIsLockedInOneOrder(t *testing.T) {
	r := newReplicas(t, straight)
	const rounds, much = 8, 60
	e := said(0, 0)
	_, err := r.stores[0].Accept(r.ctx, e)
	r.ok(err)
	c := r.claim(0, 1)[0]
	r.ok(r.stores[0].Finish(r.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}))
	put := func(i, n int, text string) error {
		// The indexes by number and by event have opposite orders.
		_, err := r.stores[i].PutMail(r.ctx,
			core.Mail{
				Mailbox: e.Conversation, Key: fmt.Sprint(n), Event: int64(1000 - n), Content: json.RawMessage(text),
			})
		return err
	}
	for range rounds {
		for n := range much {
			r.ok(put(0, n, `1`))
		}
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				var err error
				i := worker % 2
				switch worker {
				case 0, 1:
					err = r.stores[i].DeleteSession(r.ctx, c.Session)
				case 2, 3:
					_, err = r.stores[i].TakeMail(r.ctx, e.Conversation, int64(worker), nil)
				case 4, 5:
					_, err = r.stores[i].Prune(r.ctx, 0)
				default:
					err = put(i, much-worker, `2`)
				}
				if err != nil {
					t.Errorf("worker %d: %v", worker, err)
				}
			})
		}
		all.Wait()
	}
	if n := r.repeats.n.Load(); n != 0 {
		t.Errorf("%d transactions were repeated: the locks are not taken in one order", n)
	}
}
