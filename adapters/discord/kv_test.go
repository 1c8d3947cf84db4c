package discord_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// fakeKV is the store that several processes of one bot share, in memory. It uses the test's clock, except that the few
// seconds between two identifies are always over, unless apart is set.
type fakeKV struct {
	mu     sync.Mutex
	now    func() time.Time
	values map[string]string
	until  map[string]time.Time // of short-lived values
	puts   int
	leases map[string]hold
	uses   map[string][]time.Time
	broken bool
	apart  bool
}

type hold struct {
	owner string
	until time.Time
}

func newFakeKV(now func() time.Time) *fakeKV {
	if now == nil {
		now = time.Now
	}
	return &fakeKV{
		now: now, values: map[string]string{}, until: map[string]time.Time{}, leases: map[string]hold{},
		uses: map[string][]time.Time{},
	}
}

var errBusy = core.Errorf(core.StoreBusy, "The store is busy.")

func (d *fakeKV) Put(_ context.Context, name, value string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return errBusy
	}
	d.values[name] = value
	d.puts++
	return nil
}

func (d *fakeKV) PutIfAbsent(ctx context.Context, name, value string) (string, error) {
	if there, err := d.Get(ctx, name); there != "" || err != nil {
		return there, err
	}
	return value, d.Put(ctx, name, value)
}

func (d *fakeKV) Get(_ context.Context, name string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return "", errBusy
	}
	if until, short := d.until[name]; short && !d.now().Before(until) {
		return "", nil
	}
	return d.values[name], nil
}

func (d *fakeKV) PutFor(_ context.Context, name, value string, lifetime time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return errBusy
	}
	d.values[name], d.until[name] = value, d.now().Add(lifetime)
	return nil
}

func (d *fakeKV) AcquireLease(_ context.Context, name, owner string, lease time.Duration) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return false, errBusy
	}
	now := d.now()
	if h := d.leases[name]; h.owner != owner && now.Before(h.until) {
		return false, nil
	}
	d.leases[name] = hold{owner, now.Add(lease)}
	if lease <= 0 {
		delete(d.leases, name)
	}
	return lease > 0, nil
}

func (d *fakeKV) TakeToken(_ context.Context, name string, limit int, window time.Duration) (time.Duration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return 0, errBusy
	}
	if strings.Contains(name, "/slot/") && !d.apart {
		return 0, nil
	}
	now := d.now()
	kept := d.uses[name][:0]
	for _, at := range d.uses[name] {
		if now.Sub(at) < window {
			kept = append(kept, at)
		}
	}
	d.uses[name] = kept
	if len(kept) >= limit {
		return kept[len(kept)-limit].Add(window).Sub(now), nil
	}
	d.uses[name] = append(kept, now)
	return 0, nil
}

// take gives a lease to another holder.
func (d *fakeKV) take(name, owner string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leases[name] = hold{owner, d.now().Add(time.Hour)}
}

func (d *fakeKV) fail(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

func (d *fakeKV) holder(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leases[name].owner
}

// left returns how long a lease lasts without renewal.
func (d *fakeKV) left(name string) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.leases[name].until.Sub(d.now())
}

func (d *fakeKV) value(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.values[name]
}

// used counts the tokens taken from a budget.
func (d *fakeKV) used(name string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.uses[name])
}
