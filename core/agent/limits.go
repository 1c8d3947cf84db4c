package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gatehouse/core"
)

// Limits are those of one turn. They end a turn that does not come to an answer, with a sentence for the person who
// asked.
type Limits struct {
	Rounds int           // how often the model may be asked
	Calls  int           // how many tools it may call
	Tokens int64         // how many tokens the model may take, as far as they are known; 0 = no limit
	Time   time.Duration // how long the model and reading tools may take, without what the turn waits for people
}

// DefaultLimits are the limits where none are set.
var DefaultLimits = Limits{Rounds: 32, Calls: 128, Time: 15 * time.Minute}

// usage is how much of the limits a turn has used.
type usage struct {
	Rounds int           `json:"rounds"`
	Calls  int           `json:"calls"`
	Tokens int64         `json:"tokens,omitempty"`
	Time   time.Duration `json:"time,omitempty"`
}

func (l Limits) orDefault() Limits {
	return Limits{
		Rounds: cmp.Or(l.Rounds, DefaultLimits.Rounds), Calls: cmp.Or(l.Calls, DefaultLimits.Calls),
		Tokens: cmp.Or(l.Tokens, DefaultLimits.Tokens), Time: cmp.Or(l.Time, DefaultLimits.Time),
	}
}

// exceeded is why the model is not asked again; nil if it may be.
func (l Limits) exceeded(u usage) error {
	switch {
	case u.Rounds >= l.Rounds:
		return core.Errorf(core.LimitReached,
			"The model was asked %d times without giving an answer, so it was stopped. What it did until then stays "+
				"done.", l.Rounds)
	case l.Tokens > 0 && u.Tokens >= l.Tokens:
		return tooManyTokens(u.Tokens, l.Tokens)
	case u.Time >= l.Time:
		return l.tooSlow()
	}
	return nil
}

func tooManyTokens(used, limit int64) error {
	return core.Errorf(core.LimitReached,
		"This request took %d tokens; the limit is %d. The agent was stopped. What it did until then stays done. "+
			"Please ask for less at a time.", used, limit)
}

func (l Limits) tooManyCalls() error {
	return core.Errorf(core.LimitReached,
		"The agent called more than %d tools without giving an answer, so it was stopped. What it did until then "+
			"stays done.", l.Calls)
}

func (l Limits) tooSlow() error {
	return core.Errorf(core.LimitReached,
		"The agent worked for %s without giving an answer, so it was stopped. What it did until then stays done. "+
			"Please ask for less at a time.", l.Time)
}

// within calls do with as much time as is left, and returns the time used after it.
func (l Limits) within(
	ctx context.Context, before time.Duration, do func(context.Context) error,
) (after time.Duration, err error) {
	limited, cancel := context.WithTimeout(ctx, l.Time-before)
	defer cancel()
	began := time.Now()
	err = do(limited)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = l.tooSlow()
	}
	return before + time.Since(began), err
}
