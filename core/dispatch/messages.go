package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/chat"
)

// message parses the event's payload and sends the message to the chat harness.
func (t *turn) message(ctx context.Context) (*core.Finish, error) {
	input, err := t.parse(ctx)
	if err != nil {
		return nil, err
	}
	if input.Message == nil {
		cause := cmp.Or(input.Ignored, "there is nothing to answer")
		return &core.Finish{End: core.End{Kind: core.EndIgnored, Cause: cause}}, nil
	}
	if f, err := t.typedDecision(ctx, input); f != nil || err != nil {
		return f, err
	}
	e := &t.claim.Event
	s := &staging{turn: t, claim: t.claim, writer: core.Writer{Invocation: e.Invocation}}
	info := t.info()
	if info.Actor, err = t.requester(ctx); err != nil {
		return nil, err
	}
	if info.Saved, err = s.earlier(ctx, t.claim.Session); err != nil {
		return nil, err
	}
	if len(info.Saved) > 0 && !same(info.Saved[0], *input.Message) {
		info.Saved = nil // the message was changed before it was tried again
	}
	ctx = core.WithTurn(ctx, info)
	return t.outcome(ctx, s,
		t.Harness.SendStreaming(ctx, t.claim.Session, *input.Message, t, chat.WithInvocation(e.Invocation),
			chat.WithStores(s, s)))
}

// same reports whether two messages say the same.
func same(a, b core.Message) bool {
	one, err := json.Marshal(a)
	other, fault := json.Marshal(b)
	return err == nil && fault == nil && string(one) == string(other)
}

// parse has the event's platform read its payload. What had to be fetched for that is stored before anything is made of
// it: a later attempt answers the same message, whatever has become of it on the platform.
func (t *turn) parse(ctx context.Context) (core.Input, error) {
	if m := t.claim.Event.Fetched; m != nil {
		return core.Input{Message: m}, nil
	}
	p, err := t.platform()
	if err != nil {
		return core.Input{}, err
	}
	in, err := p.Parse(ctx, t.claim.Event.Event)
	if err == nil && in.Fetched && in.Message != nil {
		err = t.persist(ctx, func(ctx context.Context) error { return t.Store.KeepFetched(ctx, t.claim, *in.Message) })
	}
	return in, err
}

// platform returns the event's platform.
func (t *turn) platform() (core.Platform, error) {
	p, ok := t.platforms[t.claim.Event.Platform]
	if !ok {
		return nil, core.Errorf(core.Internal, "The platform %q is not running here.", t.claim.Event.Platform)
	}
	return p, nil
}

// signal resumes the paused turn that a decision is for. The outcome comes by the harness's subscription, as in the
// specification. The subscription that survives a restart is the stored approval.
func (t *turn) signal(ctx context.Context) (*core.Finish, error) {
	var p core.SignalPayload
	if err := json.Unmarshal(t.claim.Event.Payload, &p); err != nil {
		return nil, core.Wrap(core.Internal, err, "")
	}
	s := &staging{turn: t, claim: t.claim}
	paused, err := s.Paused(ctx, p.Invocation)
	if err != nil {
		return nil, err
	}
	if paused == nil {
		return &core.Finish{End: core.End{
			Kind: core.EndIgnored, Category: core.SuspensionRecordInvalid, Cause: "the turn is no longer paused",
		}}, nil
	}
	var outcome core.Outcome
	defer t.Harness.Subscribe(paused.Session, func(o core.Outcome) { outcome = o })()
	asked, err := t.Store.LoadApproval(ctx, core.ApprovalID(p.SignalID))
	if err != nil {
		return nil, err
	}
	info := t.info()
	info.Actor = asked.Requester // not the person who clicked
	if info.Saved, err = s.earlier(ctx, paused.Session); err != nil {
		return nil, err
	}
	ctx = core.WithTurn(ctx, info)
	signal := chat.Signal{SignalID: p.SignalID, Invocation: p.Invocation, Payload: p.Payload}
	answer := t.Harness.ResumeStreaming(ctx, signal, t, chat.WithStores(s, s))
	if outcome == nil {
		outcome = answer // refused before it ran, so no subscriber was called
	}
	f, err := t.outcome(ctx, s, outcome)
	says := func(p core.Post) bool { return strings.Contains(p.Text, core.UnknownOutcome(asked.Call.Tool).Message) }
	if err == nil && !slices.ContainsFunc(f.Posts, says) && t.leftInDoubt(ctx, asked.ID) {
		f.Posts = append(f.Posts, t.unknownOutcome(asked))
	}
	return f, err
}

// leftInDoubt reports whether the outcome of the call that the turn was resumed for is unknown. An earlier attempt
// may have found that out.
func (t *turn) leftInDoubt(ctx context.Context, id core.ApprovalID) bool {
	if t.claim.Event.Attempt == 1 {
		return t.ledger.inDoubt()
	}
	_, intent, err := t.Store.Recorded(ctx, id)
	return err == nil && intent.State() == core.CallUnknown
}

// outcome turns the outcome of the harness into a Finish.
func (t *turn) outcome(ctx context.Context, s *staging, o core.Outcome) (*core.Finish, error) {
	f := &core.Finish{
		Changes: core.Changes{Session: s.session, Resumed: s.consumed, NotRun: t.ledger.notRun(core.ToolResult{})},
	}
	switch o := o.(type) {
	case core.Completed:
		f.Evidence = t.evidence
		f.Posts = t.replies(o.Replies)
		f.End.Kind = core.EndReplied
		if len(f.Posts) == 0 {
			f.End.Kind = core.EndNothing
		}
		return f, nil
	case core.Suspended:
		open, err := t.checkOpenApprovals(ctx)
		if err != nil {
			return nil, err
		}
		f.Paused, f.Evidence = s.paused, t.evidence
		f.End = core.End{Kind: core.EndSuspended}
		info, _ := core.TurnFrom(ctx)
		approval, card, ok := t.Approvals.Open(info, s.paused.Session, o)
		if ok {
			f.Approval = &approval
			linkAlike(approval, open, card)
		}
		pending := o.Pending
		if n, asked := len(pending), o.Descriptor.Approval; n > 0 && len(card) > 0 && asked != nil && asked.Announced {
			pending = pending[:n-1]
		}
		f.Posts = append(t.replies(pending), card...)
		return f, nil
	case core.Errored:
		if o.Category == core.ClaimLost {
			return nil, errLost
		}
		if o.Category == core.Stopped {
			return nil, errStopped
		}
		return nil, &harnessError{o}
	}
	return nil, core.Errorf(core.Internal, "Unknown outcome %T.", o)
}

// checkOpenApprovals returns the open approvals of the person whom the turn is for, the latest first, and fails if they
// have many.
func (t *turn) checkOpenApprovals(ctx context.Context) ([]core.Approval, error) {
	info, _ := core.TurnFrom(ctx)
	if info.Actor.ID == "" {
		return nil, nil
	}
	open, err := t.Store.ListApprovals(ctx, core.ApprovalFilter{
		States: []core.ApprovalState{core.Open}, Requester: info.Actor.ID, Limit: maxOpenApprovals,
	})
	if err == nil && len(open) == maxOpenApprovals {
		err = core.Errorf(core.RateLimited, t.Sentences.TooManyApprovals, maxOpenApprovals)
	}
	return open, err
}

// harnessError carries an errored outcome, with its reply, to finishFailed.
type harnessError struct{ core.Errored }

func (e *harnessError) Error() string {
	return fmt.Sprintf("%s: %v", e.Category, e.Err)
}

func (e *harnessError) Unwrap() error { return e.Err }

func (e *harnessError) ErrorCategory() core.Category { return e.Category }

// replies returns the assistant's texts as posts, without tool calls and results.
func (t *turn) replies(msgs []core.Message) []core.Post {
	var posts []core.Post
	for i, m := range msgs {
		if text := m.Content.String(); m.Role == core.Assistant && text != "" {
			posts = append(posts, t.post(core.PostReply, fmt.Sprintf("reply.%d", i), text))
		}
	}
	return posts
}
