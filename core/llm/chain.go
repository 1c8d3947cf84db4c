package llm

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"gatehouse/core"
)

// Chain is a Provider that asks a list of models, in order, until one answers. It is the one place where a call is made
// again: a model that may answer the same request later is asked twice at most, after the wait that it asks for, and
// before a wait the others are asked; where another class of error says so (ClassOf) the next model is asked at once.
// No call makes more than four requests that fail; how long it takes with failures and waits is the budget of its turn.
// It remembers how each model fails (breaker), and which size was too
// long for it, from call to call.
//
// If all fail, the error is one about the conversation's size, else the first that may pass by itself, else the first.
// Its RetryAfter says how long a wait is asked for that was longer than the call may last.
type Chain struct {
	links  []*link
	config ChainConfig
}

// Link is one model of a Chain.
type Link struct {
	Provider Provider
	Model    string   // as observers are told it
	Observe  Observer // of each request; may be nil
}

// ChainConfig says how long. The zero ChainConfig has the defaults.
type ChainConfig struct {
	Time time.Duration        // that one call outside a turn may spend on failures and waits; 0: two minutes
	Wait func() time.Duration // before a model is asked again that does not say when; nil: two to four seconds

	Failed func(model string, class Class, err error) // hears of each request that fails; may be nil
}

const (
	mostFailed = 4 // requests of one call that fail
	mostTries  = 2 // of one model
	longWait   = 2 * time.Second
)

// link is a model, and what is known of it from earlier calls.
type link struct {
	Link
	breaker breaker
	size    size
}

// NewChain makes a Chain of at least one model.
func NewChain(c ChainConfig, first Link, others ...Link) *Chain {
	if c.Time <= 0 {
		c.Time = 2 * time.Minute
	}
	if c.Wait == nil {
		c.Wait = func() time.Duration { return longWait + rand.N(longWait) }
	}
	if c.Failed == nil {
		c.Failed = func(string, Class, error) {}
	}
	chain := &Chain{config: c}
	for _, l := range append([]Link{first}, others...) {
		if l.Observe == nil {
			l.Observe = unobserved
		}
		chain.links = append(chain.links, &link{Link: l})
	}
	return chain
}

var _ Provider = (*Chain)(nil)

// Ready reports whether one of the models is ready.
func (c *Chain) Ready(ctx context.Context) error {
	var worst error
	for _, l := range c.links {
		err := l.Provider.Ready(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		worst = worse(worst, err)
	}
	return worst
}

// Complete gives the first answer.
func (c *Chain) Complete(ctx context.Context, r Request) (Response, error) {
	a := asking{chain: c, request: r, links: make([]asked, len(c.links))}
	turn, _ := core.TurnFrom(ctx)
	if a.budget = turn.Budget; a.budget == nil {
		a.budget = core.NewBudget(c.config.Time)
	}
	for {
		for i := range c.links {
			if answer, done, err := a.ask(ctx, i); done {
				return answer, err
			}
		}
		if !a.wait(ctx) {
			break
		}
	}
	if interrupted := Interrupted(ctx); interrupted != nil && core.CategoryOf(interrupted) != core.ProviderUnavailable {
		return Response{}, interrupted
	}
	return Response{}, a.err
}

// asking is one call of a Chain.
type asking struct {
	chain   *Chain
	request Request
	budget  *core.Budget
	failed  int // requests
	links   []asked
	err     error
}

// asked is what came of one model in a call.
type asked struct {
	tries int
	at    time.Time // when it may be asked again
}

// ask asks a model, if it may be asked now. done: the call is over.
func (a *asking) ask(ctx context.Context, i int) (answer Response, done bool, err error) {
	l, before, began := a.chain.links[i], &a.links[i], time.Now()
	if before.tries >= mostTries || a.failed >= mostFailed || began.Before(before.at) {
		return Response{}, false, nil
	}
	if err := l.size.refuses(a.request.Estimate); err != nil {
		before.tries, a.err = mostTries, worse(a.err, err)
		return Response{}, false, nil
	}
	if wait, last := l.breaker.enter(began); last != nil {
		wait = max(wait, a.chain.config.Wait())
		before.tries++
		before.at, a.err = began.Add(wait), worse(a.err, last)
		return Response{}, false, nil
	}
	answer, err = l.try(ctx, Attempt{Index: before.tries, Model: l.Model}, a.request)
	class := ClassOf(err)
	if err == nil || ctx.Err() != nil || class == OfPerson {
		return answer, true, err
	}
	a.chain.config.Failed(l.Model, class, err)
	before.tries++
	a.failed++
	a.budget.Spend(time.Since(began))
	a.err = worse(a.err, err)
	switch {
	case class != AskAgain:
		before.tries = mostTries
		l.size.learn(a.request, err)
	case core.ReasonOf(err) != core.AnswerGarbled:
		before.at = time.Now().Add(max(core.RetryAfterOf(err), a.chain.config.Wait()))
	}
	return Response{}, false, nil
}

// try makes one request. The breaker hears how it ended also if the Provider panics: else nobody would ask the model
// again.
func (l *link) try(ctx context.Context, attempt Attempt, r Request) (answer Response, err error) {
	err = core.Errorf(core.Internal, "The provider of the model did not return.")
	defer func() { l.breaker.leave(ctx, time.Now(), err) }()
	inside, end := l.Observe(ctx, attempt)
	answer, err = l.Provider.Complete(inside, r)
	end(answer, err)
	return answer, err
}

// wait waits until the first model may be asked again; it reports false if none may within the time.
func (a *asking) wait(ctx context.Context) bool {
	again := slices.DeleteFunc(slices.Clone(a.links), func(l asked) bool { return l.tries >= mostTries })
	if len(again) == 0 || a.failed >= mostFailed {
		return false
	}
	next := slices.MinFunc(again, func(one, other asked) int { return one.at.Compare(other.at) }).at
	wait := max(0, time.Until(next))
	if deadline, ok := ctx.Deadline(); wait > a.budget.Left() || ok && deadline.Before(next) {
		return false
	}
	a.budget.Spend(wait) // before it, so that who begins the turn again after a crash knows of it
	if wait > longWait {
		core.DeltasFrom(ctx).Waits(next)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// worse is the one of two errors of a call that is told: what a shorter conversation may mend, else the first that may
// pass by itself, else the first.
func worse(before, err error) error {
	rank := func(err error) int {
		switch {
		case err == nil:
			return 0
		case core.ReasonOf(err) == core.ConversationTooLong:
			return 3
		case IsTransient(err):
			return 2
		}
		return 1
	}
	if rank(err) > rank(before) {
		return err
	}
	return before
}
