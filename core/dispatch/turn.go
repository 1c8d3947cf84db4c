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

	steps    *steps
	evidence json.RawMessage // what the graph says the turn did so far; kept with an end of any kind or a pause, not with a wait for another try
}

func newTurn(d *Dispatcher, c core.Claim) *turn {
	t := &turn{Dispatcher: d, claim: c, steps: newSteps(), log: d.Log.With(
		"platform", c.Event.Platform, "event", c.Event.Seq, "session", c.Session, "invocation", c.Event.Invocation)}
	t.ledger = &ledger{store: d.Store, claim: c, persist: t.persist}
	return t
}

// errStopped ends a turn that a person stopped; errLost one whose conversation another process has claimed.
var (
	errStopped = core.Errorf(core.Stopped, "Stopped.")
	errLost    = core.Errorf(core.LeaseLost, "Another process has taken over this conversation.")
)

// run brings the event to its end.
func (t *turn) run(ctx context.Context) {
	began := time.Now()
	f, err := t.end(ctx)
	switch {
	case errors.Is(err, errDraining):
		t.release(ctx)
	case core.CategoryOf(err) == core.LeaseLost:
		t.log.Warn("the lease on the conversation was lost; the turn is discarded", "category", core.LeaseLost)
	case err != nil: // the failure itself could not be built: only the retry is stored
		t.finish(ctx, t.retryLater(err), began)
	default:
		t.finish(ctx, f, began)
	}
}

// end gives the Finish of the event, that of its failure included. Where the turn was cut, the cut is the reason and not what broke
// by it.
func (t *turn) end(ctx context.Context) (core.Finish, error) {
	var err error = errStopped // where it was meant for an earlier attempt, this one need not begin
	if e := t.claim.Event; e.Attempt+e.Retries == 1 || !t.stopAsked(ctx) {
		var f core.Finish
		if f, err = t.handle(ctx); err == nil {
			return f, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, errDraining) || core.CategoryOf(err) == core.LeaseLost {
		return core.Finish{}, err
	}
	return t.finishFailed(ctx, err)
}

func (t *turn) stopAsked(ctx context.Context) bool {
	asked, err := t.Store.StopRequested(ctx, t.claim)
	return err == nil && asked
}

// handle makes the Finish of the event's kind. A panic is an error like any other.
func (t *turn) handle(ctx context.Context) (f core.Finish, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p), "")
		}
	}()
	e := t.claim.Event
	if e.Attempt > deadAfter {
		return t.deadLetter(ctx)
	}
	if t.MaxMessage > 0 && len(e.Payload) > t.MaxMessage && e.Kind() != core.KindSignal {
		return core.Finish{}, core.Errorf(core.MessageTooLarge, t.Sentences.TooLarge, t.MaxMessage)
	}
	if e.QueueKey() != e.Conversation.Queue() { // a click or control
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, controlTimeout)
		defer done()
	}
	switch b := e.Body.(type) {
	case core.MessageEvent:
		return t.message(ctx)
	case core.SignalEvent:
		return t.signal(ctx)
	case core.ResetEvent:
		return t.reset(ctx, b.Failed)
	case core.ClickEvent:
		return t.click(ctx)
	case core.ControlEvent:
		return t.control(ctx, b.Word)
	case core.RetryEvent:
		return t.retry(ctx, b.Failed)
	}
	return core.Finish{}, core.Errorf(core.Internal, "Unknown kind of event %q.", e.Kind())
}

// finish commits the end. It must not be cut by the end of ctx: the work is done. A store that is busy is tried again for a while;
// what can't be committed is taken again when the lease has run out.
//
// Where the store refuses a session or a pause that is to be kept, for another reason than being busy, the turn has failed with that:
// it ends as session_save_failed or suspension_persistence_failed, and keeps neither.
func (t *turn) finish(ctx context.Context, f core.Finish, began time.Time) {
	stored := t.store(ctx, f)
	if category := unsaved(f); category != "" && refused(stored) {
		without, ending := t.finishFailed(ctx, &harnessError{t.Harness.Errored(core.Wrap(category, stored, ""))})
		if ending == nil {
			f, stored = without, t.store(ctx, without)
		}
	}
	switch {
	case stored == nil && f.Retry != nil:
		t.log.Info("turn will be retried", "category", f.Retry.Category, "after", f.Retry.After)
	case stored == nil:
		t.log.Info("turn ended", "kind", t.claim.Event.Kind(), "end", f.End.Kind, "category", f.End.Category, "took", time.Since(began).Round(time.Millisecond))
		t.Delivered()
	case core.CategoryOf(stored) == core.LeaseLost:
		t.log.Warn("the lease on the conversation was lost; the turn is discarded", "category", core.LeaseLost)
	default:
		t.log.Error("storing the end of the turn failed; it will run again", "category", core.CategoryOf(stored), "err", stored)
	}
}

func (t *turn) store(ctx context.Context, f core.Finish) error {
	f.Claim = t.claim
	return t.persist(ctx, func(ctx context.Context) error { return t.Store.Finish(ctx, f) })
}

// unsaved is the category of a turn whose Finish the store refuses; "" where it keeps nothing of the engine's.
func unsaved(f core.Finish) core.Category {
	switch {
	case f.Paused != nil:
		return core.SuspensionPersistenceFailed
	case f.Session != nil:
		return core.SessionSaveFailed
	}
	return ""
}

// refused reports whether the store has answered no: it is neither busy nor slow, and the conversation is still this turn's.
func refused(err error) bool {
	return err != nil && !temporary(err) && core.CategoryOf(err) != core.LeaseLost && !errors.Is(err, context.Canceled)
}

// temporary reports whether a write may succeed in a moment.
func temporary(err error) bool {
	c := core.CategoryOf(err)
	return c == core.StoreBusy || c == core.StoreFull || errors.Is(err, context.DeadlineExceeded)
}

// persist writes what must not be lost because the store is busy or slow for a moment. A lost conversation ends it at once.
func (t *turn) persist(ctx context.Context, write func(context.Context) error) error {
	ctx = context.WithoutCancel(ctx)
	until := time.Now().Add(persistFor)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		try, cancel := context.WithTimeout(ctx, persistFor)
		err := write(try)
		cancel()
		if !temporary(err) || time.Now().After(until) {
			return err
		}
		newWake().wait(ctx, wait)
	}
}

// release returns the event to its queue unchanged.
func (t *turn) release(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := t.Store.Release(last, t.claim); err != nil && core.CategoryOf(err) != core.LeaseLost {
		t.log.Warn("releasing the event failed; its lease will expire", "category", core.CategoryOf(err), "err", err)
	}
}

// withName adds the name that people know the actor by, if the platform knows it.
func (t *turn) withName(ctx context.Context, who core.Actor) core.Actor {
	if dir, ok := t.platforms[t.claim.Event.Platform].(core.Directory); ok && who.Name == "" {
		who.Name = dir.NameOf(ctx, who)
	}
	return who
}

// info is what the nodes of this turn can see of it.
func (t *turn) info() core.Turn {
	e := t.claim.Event
	return core.Turn{Event: e.Seq, Conversation: e.Conversation, Address: e.Address, Actor: e.Actor, Ledger: t.ledger.core(), Evidence: func(e json.RawMessage) { t.evidence = e }, Step: t.steps.begin}
}

// post makes a post that answers this event. name tells it from the event's other posts.
func (t *turn) post(kind core.PostKind, name, text string) core.Post {
	e := t.claim.Event
	return core.Post{Key: fmt.Sprintf("%s/%d", name, e.Seq), To: e.Address, Conversation: e.Conversation, Kind: kind, Text: text, Event: e.Seq}
}
