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

// turn is one claimed event that is being handled.
type turn struct {
	*Dispatcher
	claim  core.Claim
	ledger *ledger
	log    *slog.Logger

	steps    *steps
	evidence json.RawMessage // what the turn did so far, from the graph; stored with any end or pause, not with a retry
}

func newTurn(d *Dispatcher, c core.Claim) *turn {
	t := &turn{Dispatcher: d, claim: c, steps: newSteps(), log: d.Log.With(
		"platform", c.Event.Platform, "event", c.Event.Seq, "session", c.Session, "invocation", c.Event.Invocation)}
	t.ledger = &ledger{store: d.Store, claim: c, persist: t.persist}
	return t
}

// errStopped ends a turn that a person stopped, errLost one whose conversation another process has claimed.
var (
	errStopped = core.Errorf(core.Stopped, "Stopped.")
	errLost    = core.Errorf(core.LeaseLost, "Another process has taken over this conversation.")
)

// run handles the event and stores the end.
func (t *turn) run(ctx context.Context) {
	began := time.Now()
	f, err := t.end(ctx)
	switch {
	case errors.Is(err, errDraining):
		t.release(ctx)
	case core.CategoryOf(err) == core.LeaseLost:
		t.log.Warn("the lease on the conversation was lost; the turn is discarded", "category", core.LeaseLost)
	case err != nil: // the Finish of the failure could not be built, so only a retry is stored
		t.finish(ctx, t.retryLater(err), began)
	default:
		t.finish(ctx, f, began)
	}
}

// end returns the Finish of the event, also if the event failed. If the turn's context was ended, its cause is the failure, not the
// error that followed from it.
func (t *turn) end(ctx context.Context) (core.Finish, error) {
	var err error = errStopped // if a stop was requested during an earlier attempt, this one does not begin
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

// handle returns the Finish of an event by its kind. A panic is returned as an error.
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

// finish commits the end, even after ctx has ended, since the work is done. A busy store is tried again for a while; if the end can't be
// committed, the event is claimed again after its lease.
//
// If the store refuses the session or the pause permanently, the turn ends as session_save_failed or suspension_persistence_failed, and
// keeps neither.
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

// unsaved returns the category of a turn whose Finish the store refuses; "" if the Finish has neither session nor pause.
func unsaved(f core.Finish) core.Category {
	switch {
	case f.Paused != nil:
		return core.SuspensionPersistenceFailed
	case f.Session != nil:
		return core.SessionSaveFailed
	}
	return ""
}

// refused reports whether the store refuses a write permanently: it is neither busy nor slow, and the lease is not lost.
func refused(err error) bool {
	return err != nil && !temporary(err) && core.CategoryOf(err) != core.LeaseLost && !errors.Is(err, context.Canceled)
}

// temporary reports whether a write may succeed in a moment.
func temporary(err error) bool {
	c := core.CategoryOf(err)
	return c == core.StoreBusy || c == core.StoreFull || errors.Is(err, context.DeadlineExceeded)
}

// persist repeats a write while the store is busy or slow, for up to persistFor. It returns any other error at once.
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
		time.Sleep(wait)
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

// withName adds the actor's name, if the platform knows it.
func (t *turn) withName(ctx context.Context, who core.Actor) core.Actor {
	if dir, ok := t.platforms[t.claim.Event.Platform].(core.Directory); ok && who.Name == "" {
		who.Name = dir.NameOf(ctx, who)
	}
	return who
}

// info describes the turn to the nodes of its graph.
func (t *turn) info() core.Turn {
	e := t.claim.Event
	return core.Turn{
		Event: e.Seq, Conversation: e.Conversation, Address: e.Address, Actor: e.Actor,
		Ledger:   core.Ledger{Approval: t.Store.LoadApproval, Begin: t.ledger.begin, Finish: t.ledger.finish},
		Evidence: func(e json.RawMessage) { t.evidence = e }, Step: t.steps.begin,
	}
}

// post returns a post that answers this event. name distinguishes it from the event's other posts.
func (t *turn) post(kind core.PostKind, name, text string) core.Post {
	e := t.claim.Event
	return core.Post{Key: fmt.Sprintf("%s/%d", name, e.Seq), To: e.Address, Conversation: e.Conversation, Kind: kind, Text: text, Event: e.Seq}
}
