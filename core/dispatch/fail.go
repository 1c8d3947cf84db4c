package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"gatehouse/core"
)

// finishFailed returns the Finish of a failed turn: a retry, or an end with a reply. It fails if the Finish can't be
// built.
func (t *turn) finishFailed(ctx context.Context, err error) (*core.Finish, error) {
	category := core.CategoryOf(err)
	if category == core.Stopped {
		why := "stopped"
		if errors.Is(err, errDeleted) || errors.Is(t.stopAsked(context.WithoutCancel(ctx)), errDeleted) {
			why = wasDeleted
		}
		return t.finishEarly(ctx, core.End{Kind: core.EndWithdrawn, Category: category, Cause: why}, why)
	}
	if after, ok := t.again(err); ok {
		return retryLater(after, err), nil
	}
	t.log.Error("turn failed", "category", category, "err", err)
	f, ending := t.finishEarly(ctx, core.End{Kind: core.EndErrored, Category: category, Cause: err.Error()},
		"the turn failed: "+string(category))
	f.Posts = append(f.Posts, t.apology(err, category))
	f.Evidence = t.evidence
	return f, ending
}

// ofModel reports whether a model did not answer. It was asked again already, as often as one message may ask
// (core/llm): the person decides about more. What a platform fails to tell before the graph runs has the same
// categories, and is tried again (again).
func ofModel(err error) bool {
	return ofHarness(err) && core.IsProviderOutage(core.CategoryOf(err))
}

// ofHarness reports whether the graph has run: what its models spent is taken from the budget already.
func ofHarness(err error) bool {
	var h *harnessError
	return errors.As(err, &h)
}

// retryLater returns a Finish that schedules the event again and stores nothing of the turn.
func retryLater(after time.Duration, err error) *core.Finish {
	return &core.Finish{Retry: &core.Retry{After: after, Category: core.CategoryOf(err), Cause: err.Error()}}
}

// apology returns the reply to the person: the harness's, or the error's sentence.
func (t *turn) apology(err error, category core.Category) core.Post {
	var h *harnessError
	text := t.Sentences.Apology
	if errors.As(err, &h) {
		text = h.Reply.Content.String()
		if t.claim.Event.Actor.Local && core.IsProviderOutage(category) {
			text += " " + t.Sentences.AtMachine
		}
	} else if wait := core.RetryAfterOf(err); wait > 0 && core.BucketOf(category) == core.RetryableTransient {
		text = fmt.Sprintf(t.Sentences.AskedToWait, core.In(wait+time.Minute/2))
	} else if category != core.Internal {
		text = t.Harness.Sentence(err)
	}
	p := t.post(core.PostError, "error", text)
	p.Bucket = core.BucketOf(category)
	// its paused turn has ended: a button to try it again would lie
	p.Pressed = t.claim.Event.Kind() == core.KindSignal && p.Bucket == core.RetryableTransient
	return p
}

// backoff returns the retry delay, which doubles from a second to a minute. It is never shorter than the error asks
// for.
func (t *turn) backoff(retries int, err error) time.Duration {
	wait := min(firstBackoff<<min(retries, 10), maxBackoff)
	wait = time.Duration(float64(wait) * (0.5 + t.Jitter()/2))
	return max(wait, core.RetryAfterOf(err))
}

// finishEarly returns a Finish without replies. If the event is a signal, it also ends the paused turn, which would
// otherwise stay paused forever.
func (t *turn) finishEarly(ctx context.Context, end core.End, why string) (*core.Finish, error) {
	f := &core.Finish{End: end}
	if t.claim.Event.Kind() != core.KindSignal {
		return f, nil
	}
	ctx = context.WithoutCancel(ctx)
	paused, err := t.endingTurn(ctx, t.claim.Event.Invocation, "")
	if err != nil || paused == nil {
		return f, err
	}
	open := core.Errorf(core.ToolFailed, "This call did not complete: %s.", why)
	if end.Cause == wasDeleted {
		open.Err = errDeleted
	}
	abandoned, done, err := t.abandon(ctx, paused, open, end.Category == core.Stopped)
	if err != nil {
		return f, err
	}
	abandoned.Reason, abandoned.Cancel = why, end.Cause == wasDeleted
	early := core.Errorf(end.Category, "Its turn ended before it could run (%s).", why)
	abandoned.NotRun = t.ledger.notRun(core.ToolResult{Content: typedError(early, ""), Category: end.Category})
	f.Resumed, f.Abandoned, f.Posts = paused.Invocation, []core.Abandon{abandoned}, done
	return f, nil
}

// endingTurn loads a paused turn that is to end; by its signal, if id is empty. What can't be read of it is left out:
// it can't go on, but must not stay either.
func (t *turn) endingTurn(ctx context.Context, id core.InvocationID, signal core.SignalID) (*core.PausedRecord, error) {
	p, err := t.Store.LoadPaused(ctx, id, signal)
	if p != nil && core.CategoryOf(err) == core.SessionLoadFailed {
		p.Messages = math.MaxInt // not known: a recorded result counts
		return p, nil
	}
	return p, err
}

// abandon ends a paused turn before END. Every open call gets a typed error as its result, so that no later turn waits
// for it. A post reports what was already done, because ending the turn does not undo it; with stopped also what was
// tried and failed. If the message was deleted (why is errDeleted), its author alone reads that.
func (t *turn) abandon(
	ctx context.Context,
	p *core.PausedRecord,
	why error,
	stopped bool,
) (core.Abandon, []core.Post, error) {
	messages, err := t.Store.InvocationMessages(ctx, p.Session, p.Invocation)
	if err != nil && core.CategoryOf(err) != core.SessionLoadFailed { // no later turn can read them either
		return core.Abandon{}, nil, err
	}
	approval, intent, err := t.Store.Recorded(ctx, core.ApprovalID(p.Descriptor.SignalID))
	switch core.CategoryOf(err) {
	case "", core.NotFound:
	case core.ApprovalMismatch, core.Unsupported:
		if approval.State == core.Approved { // what is stored of its call does not count
			intent, approval.Call.Summary = &core.IntentRecord{}, core.MessageOf(err)
		}
	default:
		return core.Abandon{}, nil, err
	}
	var posts []core.Post
	if intent != nil {
		posts = t.alreadyDone(intent, approval, stopped)
	}
	for i := range posts {
		if errors.Is(why, errDeleted) {
			posts[i].Kind, posts[i].Person = core.PostPrivate, approval.Requester.ID
		}
	}
	if len(messages) > p.Messages {
		intent = nil // the resumed turn has already saved the call's result
	}
	return core.Abandon{
		Invocation: p.Invocation, Rows: openResults(messages, intent, approval, why), By: t.claim.Event.Actor,
	}, posts, nil
}

// openResults returns the results of the open calls. Calls run one at a time and in order, so a recorded intent, with
// its approval, belongs to the first one, and its result is used unchanged.
func openResults(messages []core.Message, intent *core.IntentRecord, a core.Approval, why error) []core.Message {
	var rows []core.Message
	for i, call := range core.OpenCalls(messages) {
		result := typedError(why, "")
		if i == 0 && intent != nil {
			result = recordedResult(intent, a)
		}
		rows = append(rows, core.Result(call.ID, result))
	}
	return rows
}

// alreadyDone returns a post that reports what a turn that ends early has done, or may have done, with its result.
// What failed is reported only if the turn was stopped meanwhile: then the person was told that they would learn its
// result.
func (t *turn) alreadyDone(intent *core.IntentRecord, a core.Approval, stopped bool) []core.Post {
	sentence := t.Sentences.AlreadyDone
	switch r := intent.Result; {
	case r == nil || r.Category == core.OutcomeUnknown:
		return []core.Post{t.unknownOutcome(a)}
	case r.Category != "" && !stopped:
		return nil // it failed: nothing was done
	case r.Category != "":
		sentence = t.Sentences.CallFailed
	}
	text := fmt.Sprintf(sentence, a.Call.Summary)
	if result := shownResult(a.Call, intent.Result.Content); result != "" {
		text += "\n" + fmt.Sprintf(t.Sentences.CallResult, result)
	}
	return []core.Post{t.post(core.PostNotice, "done/"+string(a.ID), text)}
}

// unknownOutcome is a post that says of a call that nobody knows whether it took effect.
func (t *turn) unknownOutcome(a core.Approval) core.Post {
	return t.post(core.PostNotice, "done/"+string(a.ID), fmt.Sprintf(t.Sentences.OutcomeUnknown, a.Call.Summary))
}

// maxResult is the limit of a result that people are shown, in characters.
const maxResult = 1000

// shownResult is what a call returned, or why it failed, for people: with secrets masked.
func shownResult(c core.Call, content string) string {
	var failed struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(content), &failed) == nil && failed.Error.Message != "" {
		content = failed.Error.Message
	}
	text := []rune(strings.TrimSpace(c.Mask(content)))
	if len(text) > maxResult {
		text = append(text[:maxResult-1], '…')
	}
	return string(text)
}

func recordedResult(i *core.IntentRecord, a core.Approval) string {
	if i.Result != nil {
		return i.Result.Content
	}
	return typedError(core.UnknownOutcome(i.Tool), a.EditNote())
}

// typedError is an error as a model reads it. changed says that its call was started with other arguments; "" = with
// the model's own.
func typedError(err error, changed string) string {
	fields := map[string]any{"category": core.CategoryOf(err), "message": core.MessageOf(err)}
	if changed != "" {
		fields["changed"] = changed
	}
	text, _ := json.Marshal(map[string]any{"error": fields})
	return string(text)
}

// deadLetter ends an event whose attempts did not end.
func (t *turn) deadLetter(ctx context.Context) (*core.Finish, error) {
	cause := fmt.Sprintf("gatehouse itself ended %d times while the turn ran: it was killed, such as for want of "+
		"memory, or crashed, so %[1]d attempts were started and none finished; the system's log and the end of "+
		"gatehouse's own before each start say why", t.claim.Event.Attempt-1)
	category, says := core.Internal, t.Sentences.Killed
	if t.large(size(t.claim.Event)) {
		category, says = core.MessageTooLarge, t.Sentences.TooBig
		cause += fmt.Sprintf("; the message has %d bytes, which may be too many for the memory of the process (see "+
			"GATEHOUSE_TURN_MEMORY)", len(t.claim.Event.Payload))
	}
	t.log.Error("dead letter", "cause", cause)
	f, err := t.finishEarly(ctx, core.End{Kind: core.EndDead, Category: category, Cause: cause},
		"the turn failed for good")
	if k := t.claim.Event.Kind(); k == core.KindMessage || k == core.KindSignal {
		p := t.post(core.PostError, "error", says)
		p.Bucket = core.SessionTerminating
		f.Posts = append(f.Posts, p)
	}
	return f, err
}
