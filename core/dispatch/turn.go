package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/core/live"
	"gatehouse/core/retry"
)

// turn is one claimed event that is being handled.
type turn struct {
	*Dispatcher
	claim  core.Claim
	ledger *ledger
	log    *slog.Logger

	began    time.Time
	budget   *budget
	steps    steps
	progress progress
	live     *live.Turn // what people see of it; nil: nobody can look
	memory   memory
	process  context.Context         // ends when the process is to end at once
	cut      context.CancelCauseFunc // ends the turn, with a cause
	left     core.Left               // what it leaves to claim; anything, until its Finish is stored
	// what the turn did so far, from the graph; stored with any end or pause, not with a retry
	evidence json.RawMessage
}

// newTurn makes the turn of a claim. The hold has its memory, and is given back at its end.
func newTurn(d *Dispatcher, c core.Claim, hold *inflight.Hold) *turn {
	t := &turn{
		Dispatcher: d, claim: c, left: core.Left{Turns: true, Posts: true}, process: context.Background(),
		cut: func(error) {}, budget: newBudget(d.RetryTime), log: d.Log.With(
			"platform", c.Event.Platform, "event", c.Event.Seq, "session", string(c.Session),
			"invocation", string(c.Event.Invocation)),
	}
	t.memory = memory{hold: hold, tooBig: core.Errorf(core.MessageTooLarge, "%s", d.Sentences.TooBig)}
	if c.Event.Attempt > 1 && d.large(size(c.Event)) {
		t.memory.most = d.Memory.Share(inflight.Turns) / 2
	}
	t.progress.next = t.Now().Add(workingAfter)
	t.ledger = &ledger{turn: t}
	t.ledger.told, t.ledger.tell = context.WithCancel(context.Background())
	return t
}

// errStopped ends a turn that a person stopped, errDeleted one whose message was deleted, errLost one whose
// conversation another process has claimed.
var (
	errStopped = core.Errorf(core.Stopped, "Stopped.")
	errDeleted = core.Errorf(core.Stopped, "The message was deleted.")
	errLost    = core.Errorf(core.ClaimLost, "Another process has taken over this conversation.")
)

// take runs the turn. Its context ends with errLost, errStopped or core.ErrStopping.
func (t *turn) take(ctx context.Context) {
	t.process = ctx
	ctx, t.cut = context.WithCancelCause(ctx)
	t.memory.cut = t.cut
	defer t.cut(nil)
	if t.showsProgress() {
		t.live = t.Live.Begin(t.claim.Event.Platform, t.claim.Event.Conversation, t.claim.Event.Seq)
		defer t.live.End()
	}
	t.running.add(t)
	defer t.running.remove(t)
	defer t.ledger.tell()
	defer t.memory.hold.Release()
	defer t.notAlone(t.claim.Event.Seq)
	t.memory.begin(t.claim.Event)
	t.run(inflight.With(ctx, t.memory.hold))
}

// run handles the event and stores the end.
func (t *turn) run(ctx context.Context) {
	t.began = t.Now()
	f, err := t.end(ctx)
	switch {
	case errors.Is(err, core.ErrStopping):
		t.release(ctx)
	case core.CategoryOf(err) == core.ClaimLost:
		t.log.Warn("another process has taken over the conversation; the turn is discarded", "category", core.ClaimLost)
	case err != nil: // the Finish of the failure could not be built, so only a retry is stored
		t.finish(ctx, retryLater(t.backoff(t.claim.Event.Retries, err), err))
	default:
		t.finish(ctx, f)
	}
}

// end returns the Finish of the event, also if the event failed. If the turn's context was ended, its cause is the
// failure, not the error that followed from it.
func (t *turn) end(ctx context.Context) (*core.Finish, error) {
	var err error
	if e := &t.claim.Event; e.Attempt+e.Retries > 1 {
		t.loadSpent(ctx)
		err = t.stopAsked(ctx) // if a stop was requested during an earlier attempt, this one does not begin
	}
	if err == nil {
		var f *core.Finish
		if f, err = t.handle(ctx); err == nil {
			return f, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, core.ErrStopping) || core.CategoryOf(err) == core.ClaimLost {
		return nil, err
	}
	return t.finishFailed(ctx, err)
}

// stopAsked returns why the turn is to stop; nil if it is not.
func (t *turn) stopAsked(ctx context.Context) error {
	h, err := t.Store.StopRequested(ctx, t.claim)
	if err != nil {
		return nil //nolint:nilerr // watch asks again
	}
	return stopOf(h)
}

func stopOf(h core.Hold) error {
	switch {
	case h.Deleted:
		return errDeleted
	case h.Stop:
		return errStopped
	}
	return nil
}

// handle returns the Finish of an event by its kind. A panic is returned as an error.
func (t *turn) handle(ctx context.Context) (f *core.Finish, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p), "")
		}
	}()
	e := &t.claim.Event
	if e.Attempt > deadAfter || e.Attempt > largeDeadAfter && t.large(size(*e)) {
		return t.deadLetter(ctx)
	}
	if t.MaxMessage > 0 && len(e.Payload) > t.MaxMessage && e.Kind() != core.KindSignal {
		return nil, core.Errorf(core.MessageTooLarge, t.Sentences.TooLarge, t.MaxMessage)
	}
	if e.QueueKey() != e.Conversation.Queue() { // a click or control
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, controlTimeout+membershipTime)
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
	case core.AskAgainEvent:
		return t.askAgain(ctx, b.Approval)
	case core.AmendEvent:
		return t.deleted(ctx)
	}
	return nil, core.Errorf(core.Internal, "Unknown kind of event %q.", e.Kind())
}

// finish commits the end, even after ctx has ended, since the work is done. While the store fails, it keeps trying;
// only another process that takes over the conversation, or the end of this one, ends that.
//
// If the store works and refuses the session or the pause, the turn ends as session_save_failed or
// suspension_persistence_failed, and keeps neither. It also refuses the end of a turn whose message was deleted, which
// then ends without an answer. If nothing can be stored, the event is released, to be claimed again.
func (t *turn) finish(ctx context.Context, f *core.Finish) {
	t.name(f)
	stored := t.store(ctx, f)
	if failed := t.refusal(f, stored); failed != nil {
		without, ending := t.finishFailed(ctx, failed)
		if ending == nil {
			t.name(without)
			f, stored = without, t.store(ctx, without)
		}
	}
	switch {
	case stored == nil && f.Retry != nil:
		t.log.Info("turn will be retried", "category", f.Retry.Category, "after", f.Retry.After)
	case stored == nil:
		took := t.Now().Sub(t.began)
		t.log.Info("turn ended", "kind", string(t.claim.Event.Kind()), "end", string(f.End.Kind),
			"category", string(f.End.Category), "took", took.Round(time.Millisecond))
		if t.Watcher != nil {
			t.Watcher.Ended(t.claim.Event, f.End, took)
		}
		t.tellHeard(f.End.Kind)
		if t.left.Posts {
			t.Outbox.Nudge()
		}
	case core.CategoryOf(stored) == core.ClaimLost:
		t.log.Warn("another process took the conversation over before the end of the turn could be stored; the turn "+
			"is discarded", "category", core.ClaimLost)
		t.takeBack()
	default:
		t.log.Error("storing the end of the turn failed; it will run again", "category", core.CategoryOf(stored),
			"err", stored)
		t.release(ctx)
	}
}

// tellHeard tells the platform of a message that the agent has heard it, if the turn ended so.
func (t *turn) tellHeard(end core.EndKind) {
	e := &t.claim.Event
	switch end {
	case core.EndReplied, core.EndSuspended, core.EndNothing:
		if p, ok := t.platforms[e.Platform].(core.Listener); ok && e.Kind() == core.KindMessage {
			p.Heard(e.Event)
		}
	}
}

// name makes the posts of a resumed turn name the approval: if they can't be posted any more where it was asked for,
// the requester is told by them.
func (t *turn) name(f *core.Finish) {
	s, ok := t.claim.Event.Body.(core.SignalEvent)
	for i := range f.Posts {
		if p := &f.Posts[i]; ok && p.Approval == "" {
			p.Approval = s.Approval
		}
	}
}

// takeBack gives the event its attempt back. Attempts count the processes that died; this one lives, and only the end
// of the turn could not be stored.
func (t *turn) takeBack() {
	err := retry.Persist(t.process, func(ctx context.Context) error { return t.Store.TakeBack(ctx, t.claim) })
	if err != nil {
		t.log.Warn("the attempt could not be taken back", "category", core.CategoryOf(err), "err", err)
	}
}

func (t *turn) store(ctx context.Context, f *core.Finish) error {
	f.Claim = t.claim
	return t.persist(ctx, func(ctx context.Context) error {
		if f.Retry != nil {
			if err := t.storeSpent(ctx); err != nil {
				return err
			}
		}
		deliver := func() {}
		if len(f.Posts) > 0 {
			f.Handover, deliver = t.Outbox.HandOver(f.Posts[0].To.Platform, len(f.Posts))
		}
		var left core.Left
		f.Left = &left
		err := t.Store.Finish(ctx, *f)
		deliver()
		if err == nil {
			t.left = left
		}
		return err
	})
}

// refusal returns what a turn ends with instead of a Finish that the store refuses; nil: there is nothing.
func (t *turn) refusal(f *core.Finish, stored error) error {
	if core.CategoryOf(stored) == core.Stopped {
		return errDeleted
	}
	if category := unsaved(f); category != "" && refused(stored) {
		return &harnessError{t.Harness.Errored(core.Wrap(category, stored, ""))}
	}
	return nil
}

// unsaved returns the category of a turn whose Finish the store refuses; "" if the Finish has neither session nor
// pause.
func unsaved(f *core.Finish) core.Category {
	switch {
	case f.Paused != nil:
		return core.SuspensionPersistenceFailed
	case f.Session != nil:
		return core.SessionSaveFailed
	}
	return ""
}

// refused reports whether the store refuses a write permanently: it does not fail itself, and the conversation is not
// lost.
func refused(err error) bool {
	return err != nil && !core.IsStoreFailure(err) && core.CategoryOf(err) != core.ClaimLost &&
		!errors.Is(err, context.Canceled)
}

// persist repeats a write until the store works again, the conversation is lost, or the process has ended. It returns
// any other error at once.
func (t *turn) persist(ctx context.Context, write func(context.Context) error) error {
	trouble := retry.NewLog(t.log, "storing the result of a turn")
	defer t.unstored.note(t, nil)
	return retry.Persist(t.process, func(try context.Context) error {
		if errors.Is(context.Cause(ctx), errLost) {
			return errLost
		}
		err := write(try)
		trouble.Report(err)
		t.unstored.note(t, err)
		return err
	})
}

// release returns the event to its queue unchanged. Whatever the store says, it is tried again: while this process
// lives, no other one takes the conversation.
func (t *turn) release(ctx context.Context) {
	err := t.persist(ctx, func(ctx context.Context) error {
		if err := t.storeSpent(ctx); core.IsStoreFailure(err) {
			return err
		}
		err := t.Store.Release(ctx, t.claim)
		if refused(err) {
			err = core.Wrap(core.StoreBusy, err, "The database does not take a conversation back.")
		}
		return err
	})
	if err != nil && core.CategoryOf(err) != core.ClaimLost {
		t.log.Warn("releasing the event failed; another process takes it over when this one has ended",
			"category", core.CategoryOf(err), "err", err)
	}
}

// withName adds the actor's name, if the platform knows it.
func (t *turn) withName(ctx context.Context, who core.Actor) core.Actor {
	if dir, ok := t.platforms[t.claim.Event.Platform].(core.Directory); ok && who.Name == "" {
		who.Name = dir.NameOf(ctx, who)
	}
	return who
}

// requester returns the event's person, with their name and those of the policy's groups that they are in, by any of
// their accounts: rules are about people. Errors: those of Directory.Groups; unsupported if the platform of an account
// does not run here.
func (t *turn) requester(ctx context.Context) (core.Actor, error) {
	who := t.withName(ctx, t.claim.Event.Actor)
	accounts := t.Policy.RequesterGroups(who.ID)
	who.Groups = nil
	for _, account := range slices.Sorted(maps.Keys(accounts)) {
		platform, _, _ := strings.Cut(account, ":")
		dir, ok := t.platforms[platform].(core.Directory)
		if !ok {
			return who, core.Errorf(core.Unsupported, "The policy asks which groups %s is in, and %s can't be asked, "+
				"because it does not run here. An admin has to configure it, or remove this account from the policy.",
				account, platform)
		}
		in, err := dir.Groups(ctx, core.Actor{ID: account}, accounts[account])
		if err != nil {
			return who, err
		}
		who.Groups = append(who.Groups, in...)
	}
	return who, nil
}

// info describes the turn to the nodes of its graph.
func (t *turn) info() core.Turn {
	e := &t.claim.Event
	return core.Turn{
		Event: e.Seq, At: e.AcceptedAt, Conversation: e.Conversation, Address: e.Address, Actor: e.Actor,
		Progress: t, Budget: t.budget.Budget, Images: t, Ledger: t.ledger, Process: t.process, Stop: t.ledger.told,
	}
}

// post returns a post that answers this event. name distinguishes it from the event's other posts.
func (t *turn) post(kind core.PostKind, name, text string) core.Post {
	e := &t.claim.Event
	return core.Post{
		Key: fmt.Sprintf("%s/%d", name, e.Seq), To: e.Address, Conversation: e.Conversation, Kind: kind, Text: text,
		Event: e.Seq,
	}
}
