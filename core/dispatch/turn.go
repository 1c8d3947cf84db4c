package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gatehouse/core"
)

// turn is one claimed event on its way to its end.
type turn struct {
	*Dispatcher
	claim  core.Claim
	ledger *ledger
	log    *slog.Logger

	evidence json.RawMessage // what the graph says the turn did so far; kept with an end or a pause, not with a failure
}

func newTurn(d *Dispatcher, c core.Claim) *turn {
	return &turn{Dispatcher: d, claim: c, ledger: &ledger{store: d.Store, claim: c}, log: d.Log.With(
		"platform", c.Event.Platform, "event", c.Event.Seq, "session", c.Session, "invocation", c.Event.Invocation)}
}

// errStopped ends a turn that somebody asked to stop; errLost one whose lane belongs to another.
var (
	errStopped = core.Errorf(core.Stopped, "Stopped.")
	errLost    = core.Errorf(core.LeaseLost, "Another process has taken this conversation over.")
)

// run takes the event to its end, whatever happens in between.
func (t *turn) run(ctx context.Context) {
	began := time.Now()
	f, err := t.decide(ctx)
	switch {
	case errors.Is(err, errDraining):
		t.abandon(ctx)
		return
	case core.CategoryOf(err) == core.LeaseLost:
		t.log.Warn("the lane was lost; the turn is void", "category", core.LeaseLost)
		return
	case err != nil:
		f = t.failed(ctx, err)
	}
	t.finish(ctx, f, began)
}

// decide makes the Finish of the event's kind. A panic is an error like any other.
func (t *turn) decide(ctx context.Context) (f core.Finish, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p), "")
		}
	}()
	e := t.claim.Event
	if e.Attempt > deadAfter {
		return t.dead(ctx)
	}
	if t.MaxMessage > 0 && len(e.Payload) > t.MaxMessage {
		return core.Finish{}, core.Errorf(core.MessageTooLarge, t.Sentences.TooLarge, t.MaxMessage)
	}
	switch e.Kind {
	case core.KindMessage:
		return t.message(ctx)
	case core.KindSignal:
		return t.signal(ctx)
	case core.KindReset:
		return t.reset(ctx)
	case core.KindClick:
		return t.click(ctx)
	case core.KindControl:
		return t.control(ctx)
	}
	return core.Finish{}, core.Errorf(core.Internal, "An event of the unknown kind %q.", e.Kind)
}

// finish commits the end. It must not be cut by the end of ctx: the work is done. A store that is busy is tried again as long as
// the lease is ours; what can't be committed is taken again when the lease runs out.
func (t *turn) finish(ctx context.Context, f core.Finish, began time.Time) {
	f.Claim = t.claim
	var err error
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.Lease)
		err = t.Store.Finish(last, f)
		cancel()
		if c := core.CategoryOf(err); c != core.StoreBusy && c != core.StoreFull || time.Since(began) > t.Lease+time.Minute {
			break
		}
		newWake().wait(context.WithoutCancel(ctx), wait)
	}
	switch {
	case err == nil && f.Retry != nil:
		t.log.Info("turn put off", "category", f.Retry.Category, "after", f.Retry.After)
	case err == nil:
		t.log.Info("turn ended", "kind", t.claim.Event.Kind, "end", f.End.Kind, "category", f.End.Category, "took", time.Since(began).Round(time.Millisecond))
		t.Delivered()
	case core.CategoryOf(err) == core.LeaseLost:
		t.log.Warn("the lane was lost; the turn is void", "category", core.LeaseLost)
	default:
		t.log.Error("the turn's end could not be stored; it will be taken again", "category", core.CategoryOf(err), "err", err)
	}
}

// abandon gives the event back untouched.
func (t *turn) abandon(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := t.Store.HandBack(last, t.claim); err != nil && core.CategoryOf(err) != core.LeaseLost {
		t.log.Warn("handing the event back failed; its lease will run out", "category", core.CategoryOf(err), "err", err)
	}
}

// facts are what the nodes of this turn may know of it.
func (t *turn) facts() core.Turn {
	e := t.claim.Event
	return core.Turn{Event: e.Seq, Lane: e.Lane, Address: e.Address, Actor: e.Actor, Ledger: t.ledger, Evidence: func(e json.RawMessage) { t.evidence = e }}
}

// post makes a post that answers this event. name tells it from the event's other posts.
func (t *turn) post(kind core.PostKind, name, text string) core.Post {
	e := t.claim.Event
	return core.Post{Key: fmt.Sprintf("%s/%d", name, e.Seq), To: e.Address, Lane: e.Lane, Kind: kind, Text: text, Event: e.Seq}
}
