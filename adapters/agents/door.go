package agents

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// Approvals opens requests of agents; see approvals.Service.
type Approvals interface {
	// Request opens a request, or returns the one that was opened under its id before; created tells which.
	Request(ctx context.Context, r core.AgentRequest) (a core.Approval, created bool, err error)
	// Requested returns a request to the principal who made it, and WithdrawRequest withdraws it.
	Requested(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error)
	WithdrawRequest(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error)
}

// Store has the deliveries of requests, and the rate limits.
type Store interface {
	// Cards returns the posts of a request's cards.
	Cards(ctx context.Context, id core.ApprovalID) ([]core.OutboxRow, error)
	// TakeToken is that of core.KV.
	TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
}

// Signer signs what agents verify.
type Signer interface {
	// Proof signs a decision; "" if there is nothing to prove.
	Proof(a core.Approval) (string, error)
	// CallbackSecret is what a principal verifies callbacks with, as Standard Webhooks write it.
	CallbackSecret(who core.Actor) string
}

// Callbacks says where decisions may be posted. Check refuses a URL to which they must not be.
type Callbacks interface{ Check(url string) error }

// Outbox delivers the cards. Nudge is called when posts may be due.
type Outbox interface{ Nudge() }

// Options configure the interfaces for agents.
type Options struct {
	Gate      *access.Gate
	Approvals Approvals
	Store     Store
	Signer    Signer
	Callbacks Callbacks
	Outbox    Outbox
	NewID     func() string

	PerMinute int // new requests of a principal; 0 = no limit
	// requests of a principal that may wait at a time, in this process: each holds a connection; 0 = 500
	Waiting int
	Poll    time.Duration   // how often a waiting request looks; 0 = half a second
	Ending  <-chan struct{} // closed when gatehouse ends: nothing waits any longer
	Log     *slog.Logger

	waits *waits // of Routes
}

// door is what one principal may do, in this process or, with a Client, through the HTTP interface of another.
type door interface {
	ask(ctx context.Context, key string, a Ask) (s State, created bool, err error)
	state(ctx context.Context, id core.ApprovalID, wait time.Duration) (State, error)
	withdraw(ctx context.Context, id core.ApprovalID) (State, error)
}

// MaxWait is how long a request may wait for a decision.
const MaxWait = 60 * time.Second

// principal is the door of an agent in this process.
type principal struct {
	Options
	who access.Person
}

func (o Options) doorOf(who access.Person) door { return principal{o, who} }

func (p principal) ask(ctx context.Context, key string, a Ask) (State, bool, error) {
	r, err := a.request(p.who, key, p.NewID, p.Callbacks)
	if err != nil {
		return State{}, false, err
	}
	if err := p.ownName(p.who, a.Action); err != nil {
		return State{}, false, err
	}
	if err := p.take(ctx, p.who, r.ID); err != nil {
		return State{}, false, err
	}
	opened, created, err := p.Approvals.Request(ctx, r)
	if err != nil {
		return State{}, false, err
	}
	if created {
		p.Outbox.Nudge()
	}
	s, err := StateOf(opened, p.Signer)
	if r.Callback != "" {
		s.Secret = p.Signer.CallbackSecret(p.who.Actor)
	}
	return s, created, err
}

func (p principal) state(ctx context.Context, id core.ApprovalID, wait time.Duration) (State, error) {
	return p.wait(ctx, p.who, id, wait)
}

func (p principal) withdraw(ctx context.Context, id core.ApprovalID) (State, error) {
	a, err := p.Approvals.WithdrawRequest(ctx, id, p.who.Actor)
	if err != nil {
		return State{}, err
	}
	p.Outbox.Nudge()
	return StateOf(a, p.Signer)
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
	if _, err := o.Approvals.Requested(ctx, id, who.Actor); core.CategoryOf(err) != core.NotFound {
		return err
	}
	wait, err := o.Store.TakeToken(ctx, "external/"+who.Actor.ID, o.PerMinute, time.Minute)
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
		a, err := o.Approvals.Requested(ctx, id, who.Actor)
		if err != nil {
			return State{}, err
		}
		if a.State != core.Open || wait <= 0 {
			s, err := StateOf(a, o.Signer)
			if err != nil || a.State != core.Open || o.Store == nil {
				return s, err
			}
			cards, err := o.Store.Cards(ctx, id)
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
