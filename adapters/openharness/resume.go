package openharness

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
	"gatehouse/core/question"
)

// resume answers a request with a continuation. Its user_intent is not read: what is done is what the token was made for. patient: the
// client named a wait; one that did not gets the state of a run at once.
func (c *call) resume(ctx context.Context, patient bool) (wire.Response, error) {
	if c.request.Continuation.Token == "" {
		r := refuse(http.StatusBadRequest, codeContinuation, "A run_id alone resumes nothing. Send the continuation as it was given, with its continuation_token.")
		r.Field = "context.continuation.continuation_token"
		return wire.Response{}, r
	}
	t, ok := c.openToken(c.who, c.request.Continuation.Token)
	if !ok {
		return wire.Response{}, unknownContinuation()
	}
	switch t.Action {
	case actStatus:
		return c.status(ctx, core.InvocationID(t.Subject), patient)
	case actReview, actApprove, actDeny, actWithdraw, actAnswer:
		return c.decide(ctx, t)
	case actAskAgain:
		if _, err := c.approval(ctx, t); err != nil {
			return wire.Response{}, err
		}
	case actRetry, actNew:
		if err := c.failed(ctx, t); err != nil {
			return wire.Response{}, err
		}
	}
	b, p := c.pressOf(t)
	switch a := c.desk.Press(ctx, b, p).(type) {
	case desk.Event:
		return c.press(ctx, a.Event)
	case desk.Say:
		return wire.Response{}, c.refusal(b, a)
	}
	return wire.Response{}, unknownContinuation()
}

// pressOf is a request with a token as the press of a button. An answer that names no option is a form.
func (c *call) pressOf(t token) (chat.Button, desk.Press) {
	p := desk.Press{Who: c.who.Actor, Conversation: c.mailbox, Address: addressOf(c.mailbox)}
	b := chat.Button{Action: chat.Action(t.Action), Approval: core.ApprovalID(t.Subject), Edits: t.Edits, Conversation: c.mailbox}
	switch t.Action {
	case actReview:
		b.Action = chat.ActionConfirm
	case actDeny:
		p.Typed = []string{c.request.Reason}
	case actAnswer:
		b.Option, b.Edits, p.Form = t.Edits, 0, t.Edits == 0
	case actRetry, actNew:
		if t.Action == actRetry {
			b.Action = chat.ActionRetry
		}
		b.Failed, _ = strconv.ParseInt(t.Subject, 10, 64) // 0 for what is none: there is no such event
	}
	return b, p
}

// approval returns the approval of a token, if the request is of its run and its session.
func (c *call) approval(ctx context.Context, t token) (core.Approval, error) {
	a, err := c.Store.LoadApproval(ctx, core.ApprovalID(t.Subject))
	if core.CategoryOf(err) == core.NotFound {
		return core.Approval{}, refuse(http.StatusConflict, codeContinuation, desk.ErrUnknown.Message)
	}
	if err == nil && !c.concerns(a.Invocation, a.Conversation) {
		err = unknownContinuation()
	}
	return a, err
}

// concerns reports whether the request names this run and this session. It may leave out either.
func (c *call) concerns(run core.InvocationID, mailbox core.ConversationID) bool {
	if named := c.request.Continuation.Run; named != "" && named != string(run) {
		return false
	}
	if c.request.Session == "" && c.request.Conversation == "" {
		own := conversationOf(c.who, "x", "")
		if !strings.HasPrefix(string(mailbox), strings.TrimSuffix(string(own), "x")) {
			return false
		}
		c.mailbox = mailbox
	}
	return mailbox == c.mailbox
}

// review answers with the card once more, and with the token that approves it.
func (c *call) review(ctx context.Context, a core.Approval) (wire.Response, error) {
	d, err := c.card(ctx, storedPost{Kind: core.PostCard, Approval: a.ID}, map[string]any{"kind": "review", "id": a.CardKey()}, true)
	if err != nil {
		return wire.Response{}, err
	}
	r := wire.New(c.request)
	r.Body = wire.Body{Status: wire.Success, Directives: announce(nil, d)}
	return r, nil
}

// decision is the payload of a decision: the click, and which request it is; see payload.
type decision struct {
	core.Click
	Request string `json:"request,omitempty"`
	Digest  string `json:"digest"`
}

// decide stores the decision, or shows the card that is to be reviewed before it. The store decides: the first decision of a person counts, so the
// token is used once. A repetition of the same request gets its answer again.
func (c *call) decide(ctx context.Context, t token) (wire.Response, error) {
	a, err := c.approval(ctx, t)
	if err != nil {
		return wire.Response{}, err
	}
	known, err := c.find(ctx, c.eventID())
	if err == nil && known != nil {
		err = c.same(*known)
	}
	if err != nil {
		return wire.Response{}, err
	}
	if known != nil {
		return c.decided(ctx, *known, a)
	}
	b, p := c.pressOf(t)
	if p.Form && a.Question != nil {
		c.fill(&p, *a.Question)
	}
	switch pressed := c.desk.Press(ctx, b, p).(type) {
	case desk.Open:
		return c.review(ctx, a)
	case desk.Say:
		return wire.Response{}, c.refusal(b, pressed)
	case desk.Event:
		ev := pressed.Event
		ev.ID = c.eventID()
		if ev.Payload, err = json.Marshal(decision{pressed.Click, c.request.ID, c.request.Digest()}); err != nil {
			return wire.Response{}, err
		}
		click, err := c.commit(ctx, ev)
		if err != nil {
			return wire.Response{}, err
		}
		return c.decided(ctx, click, a)
	}
	return wire.Response{}, unknownContinuation()
}

// fill adds the answer that the request has.
func (c *call) fill(p *desk.Press, q question.Question) {
	intent := strings.TrimSpace(c.request.Intent)
	switch {
	case c.request.Answer != nil:
		p.Whole = string(c.request.Answer)
	case c.request.Typed != nil:
		p.Typed = c.request.Typed
	case q.Form:
		p.Whole = intent
	default:
		p.Typed = []string{q.Fields[0].Typed(intent)}
	}
}

// refusal is why a press is not taken, in the words that every platform says.
func (c *call) refusal(b chat.Button, say desk.Say) error {
	category := core.CategoryOf(say.Err)
	switch {
	case say.Busy():
		return say.Err
	case category == core.ApprovalExpired:
		return refuse(http.StatusConflict, codeExpired, say.Text())
	case category == core.Invalid && b.Action == chat.ActionDeny:
		return invalid("extensions.dev.gatehouse.reason", say.Text())
	case category == core.Invalid && b.Action == chat.ActionAnswer:
		return invalid("extensions.dev.gatehouse.answer", say.Text())
	}
	return refuse(http.StatusConflict, codeContinuation, say.Text())
}

// decided waits for the decision, and then for the turn that it resumes.
func (c *call) decided(ctx context.Context, click core.EventRecord, a core.Approval) (wire.Response, error) {
	done, err := c.await(func() (bool, error) { return c.delivered(ctx, &click) })
	if err != nil {
		return wire.Response{}, err
	}
	if !done {
		return c.stillWorking(a.Invocation), nil
	}
	if click.End.Category != "" {
		return wire.Response{}, c.refused(ctx, click)
	}
	if a, err = c.Store.LoadApproval(ctx, a.ID); err != nil {
		return wire.Response{}, err
	}
	if a.State == core.Open { // more people must decide
		return c.status(ctx, a.Invocation, false)
	}
	signal, err := c.signal(ctx, a)
	if err != nil || signal == nil {
		return wire.Response{}, core.Wrap(core.StoreBusy, err, "The decision is stored, but its turn can't be read now.")
	}
	return c.outcome(ctx, *signal, true)
}

// refused is why a decision did not count. What the person was told of it is in the mailbox; this answer has said it.
func (c *call) refused(ctx context.Context, click core.EventRecord) error {
	if _, err := c.take(ctx, click.Seq, true, click.Seq); err != nil {
		return err
	}
	if click.End.Category == core.ApprovalExpired {
		return refuse(http.StatusConflict, codeExpired, "This request has expired: nobody answered it in time. Ask for it again.")
	}
	return unknownContinuation()
}

// signal returns the event that resumes the turn of a decided approval.
func (c *call) signal(ctx context.Context, a core.Approval) (*core.EventRecord, error) {
	all, err := c.Store.Events(ctx, core.EventFilter{Invocation: a.Invocation})
	for i := range all {
		if s, ok := all[i].Body.(core.SignalEvent); ok && s.Approval == a.ID {
			return &all[i], nil
		}
	}
	return nil, err
}
