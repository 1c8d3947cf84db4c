package openharness

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
	"gatehouse/core/question"
)

// resume answers a request with a continuation. Its user_intent is not read: what is done is what the token was made
// for. patient: the client named a wait; one that did not gets the state of a run at once.
func (c *call) resume(ctx context.Context, patient bool) (r wire.Response, err error) {
	named := *c.request.Continuation
	if named.Token == "" {
		return r, &refusal{
			Status: http.StatusBadRequest, Code: codeContinuation, Field: "context.continuation.continuation_token",
			Message: "A run_id alone resumes nothing. Send the continuation as it was given, with its " +
				"continuation_token.",
		}
	}
	t, ok := c.openToken(named.Token)
	if !ok {
		return r, c.unknownContinuation()
	}
	if t.Action == actStatus {
		return c.status(ctx, core.InvocationID(t.Subject), patient)
	}
	b, a, err := c.subject(ctx, t)
	if err != nil {
		return r, err
	}
	known, err := c.find(ctx, c.eventID())
	if err == nil && known != nil {
		err = c.same(*known)
	}
	switch {
	case err != nil:
		return r, err
	case known != nil: // the answer to the same request was lost
		return c.decided(ctx, *known, a)
	}
	switch pressed := c.desk.Press(ctx, b, c.pressOf(b, a.Question)).(type) {
	case desk.Event:
		if pressed.Click.Choice == "" {
			// it is one press, however often
			same := map[string]any{"run_id": named.Run, "continuation_token": named.Token}
			return c.press(ctx, pressed.Event, same, true)
		}
		return c.decide(ctx, a, pressed)
	case desk.Open:
		return c.review(ctx, a)
	case desk.Say:
		return r, c.refusal(b, pressed)
	}
	return r, c.unknownContinuation()
}

// subject returns what a token presses, and its approval, if the request is of its run and its session.
func (c *call) subject(ctx context.Context, t token) (b outbound.Button, a core.Approval, err error) {
	b = t.button()
	if !b.OnReply() {
		a, err = c.Store.LoadApproval(ctx, b.Approval)
		switch {
		case core.CategoryOf(err) == core.NotFound:
			err = refuse(http.StatusConflict, codeContinuation, c.desk.PressUnknown)
		case err == nil && !c.concerns(a.Invocation, a.Conversation):
			err = c.unknownContinuation()
		}
		return b, a, err
	}
	failed, err := c.Store.Events(ctx, core.EventFilter{Platform: Name, Seq: b.Failed, Limit: 1})
	if err == nil && (b.Failed == 0 || len(failed) == 0 || !c.concerns("", failed[0].Conversation)) {
		err = c.unknownContinuation()
	}
	b.Conversation = c.mailbox
	return b, a, err
}

// pressOf is the request as a press. An answer that names no option is a form.
func (c *call) pressOf(b outbound.Button, q *question.Question) desk.Press {
	p := desk.Press{Who: c.who.Actor, Conversation: c.mailbox, Address: addressOf(c.mailbox)}
	intent := strings.TrimSpace(c.request.Intent)
	switch {
	case b.Action == outbound.ActionDeny:
		p.Typed = []string{c.request.Reason}
	case b.Action != outbound.ActionAnswer || b.Option > 0:
	case c.request.Answer != nil:
		p.Form, p.Whole = true, string(c.request.Answer)
	case c.request.Typed != nil || q == nil:
		p.Form, p.Typed = true, c.request.Typed
	case q.Form:
		p.Form, p.Whole = true, intent
	default:
		p.Form, p.Typed = true, []string{q.Fields[0].Typed(intent)}
	}
	return p
}

// concerns reports whether the request names this run and this session. It may leave out either.
func (c *call) concerns(run core.InvocationID, mailbox core.ConversationID) bool {
	if named := c.request.Continuation.Run; named != "" && named != string(run) {
		return false
	}
	if c.request.Session == "" && c.request.Conversation == "" {
		own := c.who.Conversation("x", "")
		if !strings.HasPrefix(string(mailbox), strings.TrimSuffix(string(own), "x")) {
			return false
		}
		c.mailbox = mailbox
	}
	return mailbox == c.mailbox
}

// review answers with the card once more, and with the token that approves it.
func (c *call) review(ctx context.Context, a core.Approval) (r wire.Response, err error) {
	about := map[string]any{"kind": "review", "id": a.CardKey()}
	d, err := c.card(ctx, storedPost{Kind: core.PostCard, Approval: a.ID}, about, true)
	return c.response(announce(nil, d)...), err
}

// decision is the payload of a decision: the click, and which request it is; see payload.
type decision struct {
	core.Click
	Request string `json:"request,omitempty"`
	Digest  string `json:"digest"`
}

// decide stores the decision. The store decides: the first decision of a person counts, so the token is used once.
func (c *call) decide(ctx context.Context, a core.Approval, pressed desk.Event) (r wire.Response, err error) {
	pressed.ID = c.eventID()
	pressed.Payload, _ = json.Marshal(decision{pressed.Click, c.request.ID, c.request.Digest()}) // can't fail
	click, err := c.commit(ctx, pressed.Event)
	if err != nil {
		return r, err
	}
	return c.decided(ctx, click, a)
}

// refusal is why a press is not taken, in the words that every platform says.
func (c *call) refusal(b outbound.Button, say desk.Say) error {
	category := core.CategoryOf(say.Err)
	switch {
	case say.Busy():
		return say.Err
	case category == core.ApprovalExpired:
		return refuse(http.StatusConflict, codeExpired, say.Text())
	case category == core.Invalid && b.Action == outbound.ActionDeny:
		return invalid("extensions.dev.gatehouse.reason", say.Text())
	case category == core.Invalid && b.Action == outbound.ActionAnswer:
		return invalid("extensions.dev.gatehouse.answer", say.Text())
	}
	r := refuse(http.StatusConflict, codeContinuation, say.Text())
	if category == core.ApprovalDecided {
		r.Cause = string(category)
	}
	return r
}

// decided waits for the decision, and then for the turn that it resumes.
func (c *call) decided(ctx context.Context, click core.EventRecord, a core.Approval) (r wire.Response, err error) {
	done, err := c.await(func() (bool, error) { return c.delivered(ctx, &click) })
	if err != nil {
		return r, err
	}
	if !done {
		return c.stillWorking(a.Invocation), nil
	}
	if click.End.Category != "" {
		return r, c.refused(ctx, click)
	}
	if a, err = c.Store.LoadApproval(ctx, a.ID); err != nil {
		return r, err
	}
	if a.State == core.Open { // more people must decide
		return c.status(ctx, a.Invocation, false)
	}
	signal, err := c.find(ctx, a.Signal().ID)
	if err != nil || signal == nil {
		return r, core.Wrap(core.StoreBusy, err, "The decision is stored, but its turn can't be read now.")
	}
	return c.outcome(ctx, *signal, true)
}

// refused is why a decision did not count, in the words that the mailbox has for the person; this answer has said them.
func (c *call) refused(ctx context.Context, click core.EventRecord) error {
	mail, err := c.take(ctx, click.Seq, true, click.Seq)
	if err != nil {
		return err
	}
	text := c.desk.PressNotOurs
	for _, m := range mail {
		if p, err := readPost(m); err == nil && p.Text != "" {
			text = p.Text
		}
	}
	return c.refusal(outbound.Button{}, desk.Say{Err: core.Errorf(click.End.Category, "%s", text)})
}
