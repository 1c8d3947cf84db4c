package openharness

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
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
	case actReview:
		return c.review(ctx, t)
	case actApprove, actDeny, actWithdraw, actAnswer:
		return c.decide(ctx, t)
	case actAskAgain:
		a, err := c.approval(ctx, t)
		if err != nil {
			return wire.Response{}, err
		}
		press := core.Event{Platform: Name, Conversation: c.mailbox, Actor: c.who.Actor, Address: addressOf(c.mailbox)}
		return c.press(ctx, chat.AskAgainEvent(a.ID, press))
	case actRetry, actNew:
		return c.pressFailed(ctx, t)
	}
	return wire.Response{}, unknownContinuation()
}

// approval returns the approval of a token, if the request is of its run and its session.
func (c *call) approval(ctx context.Context, t token) (core.Approval, error) {
	a, err := c.Store.LoadApproval(ctx, core.ApprovalID(t.Subject))
	if core.CategoryOf(err) == core.NotFound {
		return core.Approval{}, unknownContinuation()
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
func (c *call) review(ctx context.Context, t token) (wire.Response, error) {
	a, err := c.approval(ctx, t)
	if err != nil {
		return wire.Response{}, err
	}
	card, err := c.Card(ctx, a.ID, false)
	switch {
	case err != nil:
		return wire.Response{}, err
	case card.State == core.Expired:
		return wire.Response{}, expired()
	case card.State != core.Open || card.Edits != t.Edits || card.Refusal(c.who.Actor) != nil:
		return wire.Response{}, unknownContinuation()
	}
	d, err := c.card(ctx, storedPost{Kind: core.PostCard, Approval: a.ID}, map[string]any{"kind": "review", "id": a.CardKey()}, true)
	if err != nil {
		return wire.Response{}, err
	}
	r := wire.New(c.request)
	r.Body = wire.Body{Status: wire.Success, Directives: announce(nil, d)}
	return r, nil
}

func expired() *refusal {
	return refuse(http.StatusConflict, codeExpired, "This request has expired: nobody answered it in time. Ask for it again.")
}

// decide stores the decision as a click. The store decides: the first decision of a person counts, so the token is used once. A repetition of the
// same request gets its answer again.
func (c *call) decide(ctx context.Context, t token) (wire.Response, error) {
	a, err := c.approval(ctx, t)
	if err != nil {
		return wire.Response{}, err
	}
	p := payload{Request: c.request.ID, Digest: c.request.Digest(), Choice: core.Choice(t.Action), Edits: t.Edits, Reason: c.request.Reason}
	var wrong error
	if t.Action == actAnswer {
		p.Edits = 0
		p.Answer, wrong = c.answerTo(a, t.Edits)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return wire.Response{}, err
	}
	ev := chat.DecisionEvent(Name, a.ID, c.who.Actor, "", c.mailbox, addressOf(c.mailbox), raw)
	ev.ID = c.eventID()
	known, err := c.find(ctx, ev.ID)
	if err == nil && known == nil {
		if err = c.mayDecide(ctx, a, t); err == nil {
			err = wrong
		}
	}
	if err != nil {
		return wire.Response{}, err
	}
	click, err := c.commit(ctx, ev)
	if err != nil {
		return wire.Response{}, err
	}
	return c.decided(ctx, click, a)
}

// mayDecide refuses what can't count before it is stored. The store decides by the same rules again.
func (c *call) mayDecide(ctx context.Context, a core.Approval, t token) error {
	card, err := c.Card(ctx, a.ID, false)
	switch {
	case err != nil:
		return err
	case card.State == core.Expired:
		return expired()
	case card.State != core.Open || card.Edits != t.Edits && t.Action != actAnswer:
		return unknownContinuation()
	case t.Action == actWithdraw && !a.AskedBy(c.who.Actor), t.Action != actWithdraw && card.Refusal(c.who.Actor) != nil:
		return unknownContinuation()
	case t.Action == actDeny && card.NeedsWhy && strings.TrimSpace(c.request.Reason) == "":
		return invalid("extensions.dev.gatehouse.reason", `A denial of this request needs a reason. Send it as request.extensions["dev.gatehouse"].reason.`)
	}
	return nil
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
		return expired()
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
