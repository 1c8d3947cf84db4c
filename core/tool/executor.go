package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// Executor runs tools; the package comment states its guarantees.
type Executor struct {
	Tools *Registry
	Log   *slog.Logger // nil: discard
}

// Read runs a read-only call; key is its ReadKey. Every failure is a result, not an error, unless ctx ended.
func (x *Executor) Read(ctx context.Context, t Tool, call core.ToolCall, key string) (core.ToolResult, error) {
	if t.Mutating {
		return core.ToolResult{},
			core.Errorf(core.ApprovalMissing, "%s changes something and needs an approval first.", t.Name)
	}
	result, err := x.do(ctx, t, call, key)
	return result, cmp.Or(err, ctx.Err())
}

// Act runs a mutating call whose turn was paused for the approval id and resumed; before is the evidence of the turn
// until then. A refused, stale or failed call is a result. An error means that the turn can't continue here (the store
// failed, or the claim on the conversation was lost) and will be claimed again; one with a Paused, that its tool asks
// people first, and goes on by another Act. The ledger is told why a call was not begun.
func (x *Executor) Act(
	ctx context.Context, call core.ToolCall, id core.ApprovalID, before Prefix,
) (core.ToolResult, error) {
	turn, ok := core.TurnFrom(ctx)
	if !ok || turn.Ledger == nil {
		return core.ToolResult{},
			core.Errorf(core.ApprovalMissing, "%s changes something and can run only in a turn.", call.Name)
	}
	refuse := func(err error) (core.ToolResult, error) {
		r := Failed(err)
		turn.Ledger.Refuse(id, r)
		return r, nil
	}
	x.Tools.await(ctx, call.Name)
	t, unfit := x.Tools.Find(call)
	if core.CategoryOf(unfit) == core.ToolUnknown { // it was there when the approval was requested
		unfit = core.Errorf(core.ToolUnknown, "The tool %s is gone, so nothing was done.", call.Name)
	}
	approval, err := turn.Ledger.Approval(ctx, id)
	if core.CategoryOf(err) == core.NotFound {
		return refuse(core.Errorf(core.ApprovalMissing, "There is no approval for %s.", call.Name))
	}
	if err != nil {
		return core.ToolResult{}, fmt.Errorf("loading the approval %s: %w", id, err)
	}
	if unfit != nil && !approval.Begun {
		return refuse(unfit)
	}
	if err := admit(call, approval); err != nil {
		return refuse(err)
	}
	if approval.Requested != "" { // the arguments are those that an approver has put in place of the model's
		call.Arguments = approval.Call.Arguments
		if t, unfit = x.Tools.Find(call); unfit != nil && !approval.Begun {
			return refuse(unfit)
		}
	}
	closed := cmp.Or(unfit, before.gate(approval.Call.Bound))
	if closed != nil && !approval.Begun {
		return refuse(closed)
	}
	result, err := x.begin(ctx, turn, t, call, approval, closed)
	switch core.CategoryOf(err) {
	case core.ApprovalMismatch, core.Unsupported: // what is stored of the approval is not what the audit log records
		return refuse(err)
	}
	return result, err
}

// admit is the first half of law 5's gate: the call is approved, with exactly these arguments, or with those that an
// approver put in their place. It fails closed.
func admit(call core.ToolCall, a core.Approval) error {
	if a.State != core.Approved {
		return NotApproved(a)
	}
	digest, err := Digest(call.Name, call.Arguments)
	if err != nil {
		return err
	}
	mismatch := core.Errorf(core.ApprovalMismatch,
		"This call differs from what was approved, so nothing was done. Please ask again.")
	asked := cmp.Or(a.Requested, a.Call.Digest)
	if digest != asked || call.Name != a.Call.Tool {
		return mismatch
	}
	if a.Requested == "" {
		return nil
	}
	approved, err := Digest(a.Call.Tool, a.Call.Arguments) // which are not the model's
	if err != nil {
		return err
	}
	if approved != a.Call.Digest {
		return mismatch
	}
	return nil
}

// NotApproved is the typed error of an approval that is not approved. Denial, timeout and cancellation differ (law 7).
func NotApproved(a core.Approval) error {
	because := ""
	if a.Reason != "" {
		because = ": " + a.Reason
	}
	switch a.State {
	case core.Denied:
		return core.Errorf(core.ApprovalDenied, "Denied by %s%s", a.DecidedBy.Called(), because)
	case core.Expired:
		return core.Errorf(core.ApprovalExpired, "The approval expired without a decision.")
	case core.Cancelled:
		return core.Errorf(core.ApprovalCanceled, "Cancelled%s", because)
	}
	return core.Errorf(core.ApprovalMissing, "This call is not approved.")
}

// begin commits the intent and, if it is new, runs the tool. A tool that is declared idempotent runs also if there is
// an intent without a result, and a call that kept its progress goes on, if its tool is still there. If the gate is
// closed, for a call that an earlier attempt began, it only returns that attempt's outcome: the rules or the tool may
// have changed since, but what was done stays done.
func (x *Executor) begin(
	ctx context.Context, turn core.Turn, t Tool, call core.ToolCall, a core.Approval, closed error,
) (core.ToolResult, error) {
	intent, err := turn.Ledger.Begin(ctx,
		core.Intent{Approval: a.ID, Invocation: a.Invocation, Tool: call.Name, Digest: a.Call.Digest})
	if err != nil {
		return core.ToolResult{}, fmt.Errorf("recording the intent of %s: %w", call.Name, err)
	}
	if intent.Result != nil {
		return *intent.Result, nil
	}
	var result core.ToolResult
	switch {
	case intent.Fresh && closed != nil: // the approval is marked as begun, but there is no intent
		result = Failed(closed)
	case intent.Fresh, intent.Progress != "" && t.Do != nil, t.Idempotent && closed == nil:
		// or the earlier attempt's outcome is unknown, and the tool may run again under its key
		if result, err = x.act(ctx, turn, t, call, a, intent.Progress); err != nil {
			return core.ToolResult{}, err
		}
		result = edited(result, a)
	default:
		result = edited(Failed(core.UnknownOutcome(call.Name)), a)
	}
	if err := turn.Ledger.Finish(context.WithoutCancel(ctx), a.ID, result); err != nil {
		return core.ToolResult{}, fmt.Errorf("recording the result of %s: %w", call.Name, err)
	}
	return result, nil
}

// act runs the tool, whatever becomes of the turn. If its process was ended because gatehouse stops, the outcome is
// unknown; for a tool that is idempotent, or can go on, the error is core.ErrStopping instead: the next attempt runs it
// again.
func (x *Executor) act(
	ctx context.Context, turn core.Turn, t Tool, call core.ToolCall, a core.Approval, progress string,
) (core.ToolResult, error) {
	running, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	if t.Process && turn.Process != nil {
		defer context.AfterFunc(turn.Process, func() { cut(core.ErrStopping) })()
	}
	going, end := context.WithCancel(ctx) // a turn that another process has taken over goes on there alone
	defer end()
	if turn.Process != nil {
		defer context.AfterFunc(turn.Process, end)()
	}
	turn.Process = going
	result, err := x.do(withRounds(running, turn, a.ID, progress), t, call, actKey(a.ID))
	var paused *Paused
	switch {
	case errors.As(err, &paused) && paused.Question == nil:
		return result, core.ErrStopping
	case paused != nil:
		if err := turn.Ledger.Keep(running, a.ID, paused.Progress, true); err != nil {
			return result, fmt.Errorf("keeping what %s asks: %w", t.Name, err)
		}
		return result, paused
	case result.Category == "" || running.Err() == nil:
		return result, nil
	case t.Idempotent:
		return result, core.ErrStopping
	}
	return Failed(core.UnknownOutcome(t.Name)), nil
}

// Changed splits a result into the sentence above it, which says that an approver changed the arguments, and the tool's
// own result. The sentence is "" if there is none.
func Changed(result string) (sentence, own string) {
	sentence, own, ok := strings.Cut(result, "\n")
	if !ok || !strings.HasPrefix(sentence, core.ArgumentsChanged+"{") {
		return "", result
	}
	return sentence, own
}

// edited tells the model, above a result or within a failure, that it is that of other arguments than its own.
func edited(r core.ToolResult, a core.Approval) core.ToolResult {
	switch note := a.EditNote(); {
	case note == "":
	case r.Category == "":
		r.Content = note + "\n" + r.Content
	default:
		f, _ := FailureOf(r.Content)
		f.Changed = note
		r.Content = f.envelope()
	}
	return r
}

// do runs the tool; a failure, a panic, and a result above the tool's limits become results. A Paused alone is an
// error.
func (x *Executor) do(ctx context.Context, t Tool, call core.ToolCall, key string) (core.ToolResult, error) {
	result, err := t.run(ctx, key, call.Arguments)
	if err == nil || errors.As(err, new(*Paused)) {
		return result, err
	}
	log, what := x.Logger().WarnContext, "tool failed"
	if errors.As(err, new(panicked)) {
		log, what = x.Logger().ErrorContext, "tool panicked"
	}
	category := core.CategoryOf(err)
	about := []any{"tool", t.Name, "category", category}
	if category == core.ToolArguments { // what is wrong with them is what people or the model wrote
		x.Logger().DebugContext(ctx, "the arguments of a call are wrong", append(about, "err",
			x.loggable(call, err.Error()))...)
	} else {
		about = append(about, "err", x.loggable(call, err.Error()))
	}
	log(ctx, what, about...)
	if core.MessageOf(err) == "" {
		err = core.Wrap(core.ToolFailed, err, "%s failed.", t.Name)
	}
	failed := withOutput(Failed(err), result.Content)
	failed.Whole, failed.Miscut = result.Whole, result.Miscut
	return failed, nil
}

// loggable is the text of a tool's error without the secrets in the arguments of its call.
func (x *Executor) loggable(call core.ToolCall, text string) string {
	return mask.Text(mask.Without(text, x.Tools.Secrets(call)))
}

// Logger is the executor's log; it is never nil.
func (x *Executor) Logger() *slog.Logger {
	if x.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return x.Log
}
