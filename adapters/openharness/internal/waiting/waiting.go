// Package waiting tells the readers of streams how many approvals wait for their decision, as soon as that changes,
// whichever process changed it.
//
// A Desk looks at the store for all streams of a process at once: a few times a second it reads the place at which the
// audit log ends, which every change of an approval moves. If it has moved, it reads which approvals have changed and
// who may see them, and counts again for those readers alone. A stream learns of no approval that its reader may not
// see. While nobody follows, nothing is read.
package waiting

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// look is how often the store is read.
const look = 300 * time.Millisecond

// maxChanged is how many approvals News names.
const maxChanged = 100

// Store is what a desk needs of the store, and of who may see what.
type Store interface {
	ApprovalsChanged(ctx context.Context, since int64, at time.Time) (core.ApprovalChanges, error)
	CountApprovals(ctx context.Context, f core.ApprovalFilter) (int, error)
	// IsAdmin says who sees all approvals.
	IsAdmin(who core.Actor) bool
}

// News is what a stream is told.
type News struct {
	Waiting int               `json:"waiting"`           // approvals that wait for the reader's decision
	Changed []core.ApprovalID `json:"changed,omitempty"` // those that have changed
	Many    bool              `json:"many,omitempty"`    // more have changed than are named
}

// Desk watches for all streams of a process. It is made by New.
type Desk struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	place   int64 // of the audit log; -1: nobody follows
	readers map[string]*reader
}

// reader is somebody with streams.
type reader struct {
	who     core.Actor
	waiting int
	stale   bool // they are to be counted for again
	streams map[*Stream]bool
}

// New makes a desk.
func New(store Store, now func() time.Time, log *slog.Logger) *Desk {
	return &Desk{store: store, now: now, log: log, place: -1, readers: map[string]*reader{}}
}

// Run watches until the end of ctx.
func (d *Desk) Run(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := d.look(ctx); err != nil && ctx.Err() == nil {
			d.log.Debug("the approvals that wait can't be counted", "err", err)
		}
	}
}

// look tells the streams what has changed since the last one. What fails is done again by the next one.
func (d *Desk) look(ctx context.Context) error {
	d.mu.Lock()
	place := d.place
	d.mu.Unlock()
	if place < 0 {
		return nil
	}
	changes, err := d.store.ApprovalsChanged(ctx, place, d.now())
	if err != nil {
		return err
	}
	for _, r := range d.concerned(changes) {
		if err := d.count(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// concerned notes for each reader what has changed of what they may see, and returns those to count for.
func (d *Desk) concerned(changes core.ApprovalChanges) (stale []*reader) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.readers) > 0 { // else all have left meanwhile
		d.place = changes.Place
	}
	for _, r := range d.readers {
		news, all := News{Many: changes.Many}, d.store.IsAdmin(r.who)
		for id, accounts := range changes.Of {
			if all || slices.Contains(accounts, r.who.ID) ||
				r.who.Local && slices.Contains(accounts, core.LocalPerson) {
				news.Changed = append(news.Changed, id)
			}
		}
		if news.Many || len(news.Changed) > 0 {
			r.stale = true
			for s := range r.streams {
				s.note(news)
			}
		}
		if r.stale {
			stale = append(stale, r)
		}
	}
	return stale
}

// count counts for a reader, and wakes their streams.
func (d *Desk) count(ctx context.Context, r *reader) error {
	n, err := d.store.CountApprovals(ctx, core.ApprovalFilter{Decider: r.who, At: d.now()})
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.waiting, r.stale = n, false
	for s := range r.streams {
		s.wakeUp()
	}
	return nil
}

// Follow begins to tell a reader; its first news are there at once. Leave must be called.
func (d *Desk) Follow(ctx context.Context, who core.Actor) (*Stream, error) {
	now, err := d.store.ApprovalsChanged(ctx, math.MaxInt64, d.now()) // what has changed before is no news
	if err != nil {
		return nil, err
	}
	n, err := d.store.CountApprovals(ctx, core.ApprovalFilter{Decider: who, At: d.now()})
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.place < 0 {
		d.place = now.Place
	}
	r := d.readers[who.ID]
	if r == nil {
		r = &reader{who: who, streams: map[*Stream]bool{}}
		d.readers[who.ID] = r
	}
	// what was counted may be older than the desk's place, so it is counted again after the next look
	r.waiting, r.stale = n, true
	s := &Stream{desk: d, reader: r, wake: make(chan struct{}, 1)}
	r.streams[s] = true
	s.wakeUp()
	return s, nil
}
