package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"gatehouse/core"
)

// budget is what the turns of one event may spend on failures, retries and waits, in all its attempts and processes. A
// model's are taken from it where the model is asked (core/llm), the others here. What was spent is stored beside the
// event while it has not ended: before each retry and long wait, and when the event is returned to its queue.
type budget struct {
	*core.Budget
	all time.Duration

	mu       sync.Mutex
	failures int // that were tried again and were not a failure of the database
	stored   spent
}

// spent is how a budget is stored.
type spent struct {
	Time     time.Duration `json:"time"`
	Failures int           `json:"failures,omitempty"`
}

// keepSpent is how long what was spent is known: longer than an event waits for anything but the database.
const keepSpent = 7 * 24 * time.Hour

func newBudget(d time.Duration) *budget { return &budget{Budget: core.NewBudget(d), all: d} }

// spentKey is the name of what was spent for the turn's event.
func (t *turn) spentKey() string { return fmt.Sprintf("spent/%d", t.claim.Event.Seq) }

// loadSpent reads what earlier attempts have spent.
func (t *turn) loadSpent(ctx context.Context) {
	text, err := t.Store.Get(ctx, t.spentKey())
	var before spent
	if err != nil || text == "" || json.Unmarshal([]byte(text), &before) != nil {
		return
	}
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Spend(before.Time)
	b.failures, b.stored = before.Failures, before
}

// storeSpent stores what was spent, if that is not stored yet.
func (t *turn) storeSpent(ctx context.Context) error {
	b := t.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	now := spent{Time: b.all - b.Left(), Failures: b.failures}
	if now == b.stored {
		return nil
	}
	text, err := json.Marshal(now)
	if err == nil {
		err = t.Store.PutFor(ctx, t.spentKey(), string(text), keepSpent)
	}
	if err == nil {
		b.stored = now
	}
	return err
}

// again returns after what time the event is tried again after a failure; ok is false if it ends with it.
//
// A failure of our own database spends nothing: it is tried again for as long as it takes, unless what is stored can't
// be read. What others don't do now is tried again while the budget lasts, and what fails for an unknown reason a few
// times. A model is not asked again here: the person decides about that.
func (t *turn) again(err error) (after time.Duration, ok bool) {
	category, b := core.CategoryOf(err), t.budget
	if category == core.StoreBusy || category == core.StoreFull {
		return t.backoff(0, nil), true
	}
	if core.BucketOf(category) != core.RetryableTransient || ofModel(err) {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures >= maxRetries && !isElsewhere(err) {
		return 0, false
	}
	after = t.backoff(b.failures, err)
	b.failures++
	if category == core.StoreUnreadable || category == core.StoreNewer {
		return after, true
	}
	if !ofHarness(err) {
		b.Spend(t.Now().Sub(t.began))
	}
	if after > b.Left() {
		return 0, false
	}
	b.Spend(after)
	return after, true
}

// isElsewhere reports whether what failed is not gatehouse's and may work again by itself.
func isElsewhere(err error) bool {
	switch c := core.CategoryOf(err); c {
	case core.DeliveryLater, core.DeliveryNotYet, core.PromptStoreUnavailable:
		return true
	default:
		return core.IsProviderOutage(c) || core.RetryAfterOf(err) > 0
	}
}
