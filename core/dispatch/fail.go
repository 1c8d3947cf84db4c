package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
)

// failed makes the Finish of a turn that did not come to its own end: put off, or ended with a sentence.
func (t *turn) failed(ctx context.Context, err error) core.Finish {
	category := core.CategoryOf(err)
	if category == core.Stopped {
		t.log.Info("turn stopped")
		return t.ended(ctx, core.End{Kind: core.EndWithdrawn, Category: category, Cause: "stopped"}, "stopped")
	}
	e := t.claim.Event
	if core.BucketOf(category) == core.RetryableTransient && e.Retries < maxRetries {
		return core.Finish{Retry: &core.Retry{After: t.backoff(e.Retries, err), Category: category, Cause: err.Error()}}
	}
	t.log.Error("turn failed", "category", category, "err", err)
	f := t.ended(ctx, core.End{Kind: core.EndErrored, Category: category, Cause: err.Error()}, "the turn failed: "+string(category))
	f.Posts = append(f.Posts, t.apology(err, category))
	return f
}

// apology is the bucket's reply.
func (t *turn) apology(err error, category core.Category) core.Post {
	var h *harnessError
	text := core.MessageOf(err)
	if errors.As(err, &h) {
		text = h.Reply.Content.String()
	} else if category == core.Internal || text == "" {
		text = t.Sentences.Apology
	}
	p := t.post(core.PostError, "error", text)
	p.Bucket = core.BucketOf(category)
	return p
}

// backoff doubles from a second to a minute, or is as long as the other side asked.
func (t *turn) backoff(retries int, err error) time.Duration {
	wait := min(firstBackoff<<retries, maxBackoff)
	wait = time.Duration(float64(wait) * (0.5 + t.Jitter()/2))
	return max(wait, core.RetryAfterOf(err))
}

// ended makes a Finish without replies. A paused turn that was to be resumed ends with it, short of END.
func (t *turn) ended(ctx context.Context, end core.End, why string) core.Finish {
	f := core.Finish{End: end}
	if t.claim.Event.Kind != core.KindSignal {
		return f
	}
	paused, err := t.Store.LoadPaused(context.WithoutCancel(ctx), t.claim.Event.Invocation, "")
	if err != nil || paused == nil {
		return f
	}
	ctx = context.WithoutCancel(ctx)
	rows, err := t.openResults(ctx, paused, core.Errorf(core.ToolFailed, "This did not come to an end: %s.", why))
	if err != nil {
		t.log.Error("the open calls of a paused turn could not be read", "category", core.CategoryOf(err), "err", err)
	}
	f.Resumed = paused.Invocation
	f.Closures = []core.Closure{{Invocation: paused.Invocation, Rows: rows, Reason: why, By: t.claim.Event.Actor}}
	f.Posts = t.alreadyDone(ctx, core.ApprovalID(paused.Descriptor.SignalID))
	return f
}

// alreadyDone says what a turn that ends short of its end has done in the world: nobody shall think that stopping undid it.
func (t *turn) alreadyDone(ctx context.Context, id core.ApprovalID) []core.Post {
	intent, err := t.Store.LoadIntent(ctx, id)
	if err != nil || intent == nil {
		return nil
	}
	a, err := t.Store.LoadApproval(ctx, id)
	if err != nil {
		return nil
	}
	text := fmt.Sprintf(t.Sentences.AlreadyDone, a.Call.Summary)
	switch {
	case intent.Result == nil || intent.Result.Category == core.OutcomeUnknown:
		text = fmt.Sprintf(t.Sentences.OutcomeUnknown, a.Call.Summary)
	case intent.Result.Category != "":
		return nil // it failed: nothing was done
	}
	return []core.Post{t.post(core.PostNotice, "done", text)}
}

// openResults gives a typed error result for every call of a paused turn that no result answers, so that no later turn sees it as
// waiting. What the executor has recorded of the call is told as it is.
func (t *turn) openResults(ctx context.Context, p *core.PausedRecord, why error) ([]core.Message, error) {
	said, err := t.Store.InvocationMessages(ctx, p.Session, p.Invocation)
	if err != nil {
		return nil, err
	}
	intent, err := t.Store.LoadIntent(ctx, core.ApprovalID(p.Descriptor.SignalID))
	if err != nil {
		return nil, err
	}
	var rows []core.Message
	for i, call := range core.OpenCalls(said) {
		result := typedError(why)
		if i == 0 && intent != nil { // calls run one at a time, in order: the intent is the first open call's
			result = recorded(intent)
		}
		rows = append(rows, core.Message{Role: core.ToolRole, ToolCallID: call.ID, Content: core.Text(result)})
	}
	return rows, nil
}

func recorded(i *core.IntentRecord) string {
	if i.Result != nil {
		return i.Result.Content
	}
	return typedError(core.Errorf(core.OutcomeUnknown, "The outcome of %s is unknown: it was begun, and its end was not recorded.", i.Tool))
}

func typedError(err error) string {
	text, _ := json.Marshal(map[string]any{"error": map[string]any{"category": core.CategoryOf(err), "message": core.MessageOf(err)}})
	return string(text)
}

// dead sets an event aside that ended too many processes.
func (t *turn) dead(ctx context.Context) (core.Finish, error) {
	cause := fmt.Sprintf("%d turns of it began and none came to an end", t.claim.Event.Attempt-1)
	t.log.Error("dead letter", "cause", cause)
	f := t.ended(ctx, core.End{Kind: core.EndDead, Category: core.Internal, Cause: cause}, "it was set aside")
	p := t.post(core.PostError, "error", t.Sentences.Apology)
	p.Bucket = core.SessionTerminating
	if t.claim.Event.Kind == core.KindMessage || t.claim.Event.Kind == core.KindSignal {
		f.Posts = append(f.Posts, p)
	}
	return f, nil
}
