package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// Cards are drawn anew for each delivery.
type Cards interface {
	// Card returns an approval's card from its stored state. With context, the card has the last messages of the
	// conversation.
	Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
}

// Options are a Deliverer's parts and settings.
type Options struct {
	Store         core.Outbox
	Cards         Cards
	Platforms     []core.Platform
	Conversations []core.ConversationID // if not nil, only these are served; a console serves its own
	Owner         string                // from Store.Register

	Poll    time.Duration // between two claims; 0: 500 ms
	Timeout time.Duration // of a delivery; 0: 10 s
	// when a part in doubt is looked up, counted from its send, unless something newer shows; the last one is so much
	// later than the first that what was sent would be readable. nil: after 2, 5, 12 and 33 s
	Lookups   []time.Duration
	Freshness time.Duration  // an older reply is marked as late; 0: none is
	Sentences core.Sentences // in place of the built-in ones, where a platform refuses what a post says
	Jitter    func() float64 // of waits, from 0 (half) to 1 (full); nil: full
	Log       *slog.Logger   // nil: logs are discarded
}

// Limits and intervals.
const (
	inFlight = 256 // rows at a time per platform
	// rows at a time that are looked for; so many slots are kept for them, and turns that end find the others free
	mostClaims      = 64
	giveUp          = 21600 // failed attempts in a row, about a day, make a row dead
	firstBackoff    = time.Second
	maxBackoff      = 4 * time.Second  // short, so that nothing waits long once the platform is back; see outage
	maxAsked        = 15 * time.Minute // a platform that asks to wait longer is asked again after this
	longWait        = 10 * time.Second // a wait that people notice
	firstForbidden  = time.Minute      // after a refusal that people can fix; short, so that a quick fix shows soon
	maxForbidden    = 15 * time.Minute
	giveUpForbidden = 100 // such refusals in a row, about a day
	doubtTries      = 3   // failed lookups of a part before the row is unknown
	copyTries       = 4   // failed attempts to find the approvers who need copies; then the card is sent without copies
)

// Deliverer delivers posts; see the package comment.
type Deliverer struct {
	Options
	platforms map[string]core.Platform
	scopes    []core.Scope
	lanes     []*lane // of each scope
}

// New returns a deliverer. It panics if a required part is missing.
func New(o Options) *Deliverer {
	if o.Store == nil || o.Cards == nil || o.Owner == "" {
		panic("outbox: Store, Cards and Owner are required")
	}
	if o.Poll <= 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	if len(o.Lookups) == 0 {
		o.Lookups = []time.Duration{2 * time.Second, 5 * time.Second, 12 * time.Second, 33 * time.Second}
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
		d.lanes = append(d.lanes, newLane(p.Name()))
	}
	return d
}

// lane returns the lane of one of the deliverer's platforms.
func (d *Deliverer) lane(platform string) *lane {
	i := slices.IndexFunc(d.lanes, func(l *lane) bool { return l.platform == platform })
	return d.lanes[i]
}

// Nudge makes the deliverer claim now instead of at the next poll, after posts may have been added. It never blocks.
func (d *Deliverer) Nudge() {
	for _, l := range d.lanes {
		l.wake()
	}
}

// Run delivers until ctx ends, and returns once no send is running. It never fails: a store that can't be reached is
// tried again. Each platform has its own slots, so a platform that hangs delays no other.
func (d *Deliverer) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for i, scope := range d.scopes {
		all.Go(func() { d.run(ctx, scope, d.lanes[i]) })
	}
	all.Wait()
	return nil
}

// run delivers to one platform.
func (d *Deliverer) run(ctx context.Context, scope core.Scope, l *lane) {
	l.open(ctx)
	defer l.close()
	errorLog := retry.NewLog(d.Log, "looking for posts")
	for ctx.Err() == nil {
		if free := l.look(); free > 0 {
			rows, err := d.Store.ClaimPosts(ctx, core.PostRequest{
				Owner: d.Owner, Limit: free, Scopes: []core.Scope{scope}, SentAt: timeOf(d.platforms[scope.Platform]),
			})
			if ctx.Err() == nil {
				errorLog.Report(err)
			}
			d.start(l, free, rows)
			if len(rows) == free {
				continue
			}
		}
		select {
		case <-l.nudged:
		case <-time.After(retry.UntilPoll(d.Poll)):
		case <-ctx.Done():
		}
	}
}

// start delivers rows in slots that were taken, and gives those that are not needed back.
func (d *Deliverer) start(l *lane, taken int, rows []core.OutboxRow) {
	l.giveBack(taken - len(rows))
	for _, row := range rows {
		go func() {
			more := d.deliver(context.WithoutCancel(l.process), l.process, row) // a send that has begun is completed
			if l.giveBack(1); more {
				l.wake()
			}
		}()
	}
}

// HandOver takes slots of a platform for up to n posts of a turn that ends. Its result is for core.Finish; nil: no slot
// is free, or Run does not run. Then, whatever became of the Finish, deliver must be called once: it delivers what was
// claimed.
func (d *Deliverer) HandOver(platform string, n int) (h *core.Handover, deliver func()) {
	for _, l := range d.lanes {
		if l.platform != platform {
			continue
		}
		taken := l.take(n, mostClaims) // the others are for posts that wait already
		if taken == 0 {
			break
		}
		h := &core.Handover{Platform: platform, Limit: taken, SentAt: timeOf(d.platforms[platform])}
		return h, func() { d.start(l, taken, h.Rows) }
	}
	return nil, func() {}
}

// Flush delivers what is due, until nothing is due any more or ctx ends. A process that stops calls it last.
func (d *Deliverer) Flush(ctx context.Context) error {
	for more := true; more; {
		more = false
		for _, scope := range d.scopes {
			rows, err := d.Store.ClaimPosts(ctx, core.PostRequest{
				Owner: d.Owner, Limit: mostClaims, Scopes: []core.Scope{scope},
				SentAt: timeOf(d.platforms[scope.Platform]),
			})
			if err != nil {
				return err
			}
			more = more || len(rows) > 0
			var sending sync.WaitGroup
			for _, row := range rows {
				sending.Go(func() { d.deliver(ctx, ctx, row) })
			}
			sending.Wait()
		}
	}
	return nil
}
