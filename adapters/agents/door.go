package agents

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// Options configure the interfaces for agents.
type Options struct {
	Gate *access.Gate

	// Request, Requested and Withdraw are those of approvals.Service.
	Request   func(ctx context.Context, r core.AgentRequest) (a core.Approval, created bool, err error)
	Requested func(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error)
	Withdraw  func(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error)

	// refuses a URL that must not be posted to
	Callbacks func(url string) error
	// signs a decision
	Proof func(a core.Approval) (string, error)
	// those of a request; nil: what became of them is not told
	Cards func(ctx context.Context, id core.ApprovalID) ([]core.OutboxRow, error)
	// core.KV's
	TakeToken func(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
	Secret    func(who core.Actor) string // what a principal verifies callbacks with, as Standard Webhooks write it
	NewID     func() string

	PerMinute int    // new requests of a principal; 0 = no limit
	Opened    func() // called when posts may be due
	// requests of a principal that may wait at a time, in this process: each holds a connection; 0 = 500
	Waiting int
	Poll    time.Duration   // how often a waiting request looks; 0 = half a second
	Ending  <-chan struct{} // closed when gatehouse ends: nothing waits any longer
	Log     *slog.Logger

	waits *waits // of Routes
}

// door is what one principal may do, in this process or, with a Client, through the HTTP interface of another.
type door struct {
	ask      func(ctx context.Context, key string, a Ask) (s State, created bool, err error)
	state    func(ctx context.Context, id core.ApprovalID, wait time.Duration) (State, error)
	withdraw func(ctx context.Context, id core.ApprovalID) (State, error)
}

// MaxWait is how long a request may wait for a decision.
const MaxWait = 60 * time.Second

// doorOf is the door of a principal in this process.
func (o Options) doorOf(who access.Person) door {
	return door{
		ask: func(ctx context.Context, key string, a Ask) (State, bool, error) {
			r, err := a.request(who, key, o.NewID, o.Callbacks)
			if err != nil {
				return State{}, false, err
			}
			if err := o.ownName(who, a.Action); err != nil {
				return State{}, false, err
			}
			if err := o.take(ctx, who, r.ID); err != nil {
				return State{}, false, err
			}
			opened, created, err := o.Request(ctx, r)
			if err != nil {
				return State{}, false, err
			}
			if created {
				o.Opened()
			}
			s, err := StateOf(opened, o.Proof)
			if r.Callback != "" {
				s.Secret = o.Secret(who.Actor)
			}
			return s, created, err
		},
		state: func(ctx context.Context, id core.ApprovalID, wait time.Duration) (State, error) {
			return o.wait(ctx, who, id, wait)
		},
		withdraw: func(ctx context.Context, id core.ApprovalID) (State, error) {
			a, err := o.Withdraw(ctx, id, who.Actor)
			if err != nil {
				return State{}, err
			}
			o.Opened()
			return StateOf(a, o.Proof)
		},
	}
}

// ownName refuses an action that the policy could not tell from one of another principal: prod.deploy of ci is deploy
// of ci.prod.
func (o Options) ownName(who access.Person, action string) error {
	for i, c := range action {
		if other := who.Name + "." + action[:i]; c == '.' && o.Gate.Has(other) {
			return core.Errorf(core.Invalid,
				"The action %s would look like one of %s, which has a token of its own. Take a name that does not "+
					"begin with %s.", action, other, action[:i+1])
		}
	}
	return nil
}

// take counts a request that is not known yet.
func (o Options) take(ctx context.Context, who access.Person, id core.ApprovalID) error {
	if o.PerMinute <= 0 {
		return nil
	}
	if _, err := o.Requested(ctx, id, who.Actor); core.CategoryOf(err) != core.NotFound {
		return err
	}
	wait, err := o.TakeToken(ctx, "external/"+who.Actor.ID, o.PerMinute, time.Minute)
	if err != nil || wait == 0 {
		return err
	}
	return &core.Error{
		Category: core.RateLimited, RetryAfter: wait,
		Message: "You make too many requests. Wait a moment, and do not ask people so often.",
	}
}

// wait returns the state once the request is decided, or when the time is over.
func (o Options) wait(ctx context.Context, who access.Person, id core.ApprovalID, wait time.Duration) (State, error) {
	if wait > 0 {
		leave, err := o.waits.enter(who)
		if err != nil {
			return State{}, err
		}
		defer leave()
	}
	over := time.NewTimer(min(wait, MaxWait))
	defer over.Stop()
	every := o.Poll
	if every <= 0 {
		every = 500 * time.Millisecond
	}
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		a, err := o.Requested(ctx, id, who.Actor)
		if err != nil {
			return State{}, err
		}
		if a.State != core.Open || wait <= 0 {
			s, err := StateOf(a, o.Proof)
			if err != nil || a.State != core.Open || o.Cards == nil {
				return s, err
			}
			cards, err := o.Cards(ctx, id)
			s.Delivery = DeliveryOf(cards)
			return s, err
		}
		select {
		case <-ctx.Done():
			return State{}, ctx.Err()
		case <-over.C:
			wait = 0
		case <-o.Ending:
			wait = 0
		case <-again.C:
		}
	}
}
