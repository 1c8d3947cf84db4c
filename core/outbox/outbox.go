package outbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/core"
)

// Options are a Deliverer's parts and settings.
type Options struct {
	Store core.Outbox
	// Card draws an approval from its stored state. With context the card tells the last that was said in its conversation.
	Card      func(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
	Platforms []core.Platform
	// Conversations, where not nil, are the only ones that this process serves: a console serves its own.
	Conversations []core.ConversationID
	Owner         string // from Store.Register

	Lease     time.Duration
	Poll      time.Duration
	Freshness time.Duration // a reply older than this is sent marked as late; 0 = never
	Now       func() time.Time
	Jitter    func() float64 // of waits, from 0 (half) to 1 (full); nil: full
	Log       *slog.Logger   // nil: discard
}

// Numbers that have a reason.
const (
	inFlight        = 16  // destinations at a time, of a platform
	giveUp          = 300 // failed tries in a row, about a day of them, make a row dead
	firstBackoff    = time.Second
	maxBackoff      = 5 * time.Minute
	firstForbidden  = time.Minute // a refusal that somebody can mend: an admin who does so at once sees the post soon
	maxForbidden    = 15 * time.Minute
	giveUpForbidden = 100             // such refusals in a row, about a day of them
	doubtWait       = 2 * time.Second // between looks for a part in doubt: posts become readable late
	doubtTries      = 3               // failed look-ups of a part before the row is unknown
	copyTries       = 4               // failed tries to find out who else is to see a card, before it goes out without
	sendTimeout     = 10 * time.Second
)

// Deliverer delivers; see the package comment.
type Deliverer struct {
	Options
	platforms map[string]core.Platform
	scopes    []core.Scope
	rings     []chan struct{} // of each scope
}

// New makes a deliverer. Missing parts are a programming mistake and panic.
func New(o Options) *Deliverer {
	if o.Store == nil || o.Card == nil || o.Owner == "" {
		panic("outbox: Store, Card and Owner are required")
	}
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Deliverer{Options: o, platforms: map[string]core.Platform{}}
	for _, p := range o.Platforms {
		d.platforms[p.Name()] = p
		d.scopes = append(d.scopes, core.Scope{Platform: p.Name(), Conversations: o.Conversations})
		d.rings = append(d.rings, make(chan struct{}, 1))
	}
	return d
}

// Nudge says that there may be posts: look now, not at the next poll. It never blocks.
func (d *Deliverer) Nudge() {
	for _, ring := range d.rings {
		select {
		case ring <- struct{}{}:
		default:
		}
	}
}

// Run delivers until ctx ends, and returns when nothing is in flight any more. It never fails: a store that can't be reached is
// tried again. Each platform has slots of its own, so that one which hangs holds up no other.
func (d *Deliverer) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for i, scope := range d.scopes {
		all.Go(func() { d.run(ctx, scope, d.rings[i]) })
	}
	all.Wait()
	return nil
}

// run delivers to one platform.
func (d *Deliverer) run(ctx context.Context, scope core.Scope, ring chan struct{}) {
	var flying sync.WaitGroup
	defer flying.Wait()
	trouble := core.NewErrorLog(d.Log, "looking for posts")
	slots := make(chan struct{}, inFlight)
	for ctx.Err() == nil {
		free := cap(slots) - len(slots)
		if free > 0 {
			rows, err := d.Store.ClaimPosts(ctx, core.PostRequest{Owner: d.Owner, Limit: free, Lease: d.Lease, Scopes: []core.Scope{scope}})
			if ctx.Err() == nil {
				trouble.Report(err)
			}
			for _, row := range rows {
				slots <- struct{}{}
				flying.Go(func() {
					defer d.Nudge()
					defer func() { <-slots }()
					d.deliver(context.WithoutCancel(ctx), row) // a send that was begun is not cut
				})
			}
			if len(rows) == free {
				continue
			}
		}
		timer := time.NewTimer(d.Poll)
		select {
		case <-ring:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Flush delivers what is due now, until nothing is left that can be delivered, or ctx ends: the last act of a process that drains.
func (d *Deliverer) Flush(ctx context.Context) error {
	for {
		rows, err := d.Store.ClaimPosts(ctx, core.PostRequest{Owner: d.Owner, Limit: inFlight, Lease: d.Lease, Scopes: d.scopes})
		if err != nil || len(rows) == 0 {
			return err
		}
		var flying sync.WaitGroup
		for _, row := range rows {
			flying.Go(func() { d.deliver(ctx, row) })
		}
		flying.Wait()
	}
}
