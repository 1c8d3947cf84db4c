package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// control answers stop, status, cancel and help.
func (t *turn) control(ctx context.Context, word string) (*core.Finish, error) {
	f := &core.Finish{End: core.End{Kind: core.EndReplied}}
	var text string
	var err error
	word, which, _ := strings.Cut(word, " ")
	switch word {
	case "stop":
		text, err = t.stop(ctx)
	case "status":
		text, f.Show, err = t.status(ctx)
	case "cancel":
		text, err = t.cancel(ctx, which)
	case "help":
		text = t.Sentences.Help
	default:
		return &core.Finish{End: core.End{Kind: core.EndIgnored, Cause: "unknown control word"}}, nil
	}
	if err != nil {
		return nil, err
	}
	f.Posts = []core.Post{t.post(core.PostNotice, "notice", text)}
	return f, nil
}

// retry retries a failed event by one new event, however often the button is pressed.
func (t *turn) retry(ctx context.Context, failed int64) (*core.Finish, error) {
	_, err := t.Store.Retry(ctx, failed)
	switch core.CategoryOf(err) {
	case "":
		return &core.Finish{
			End:     core.End{Kind: core.EndDecided},
			Changes: core.Changes{Pressed: []string{errorKey(failed)}},
		}, nil
	case core.NotFound, core.Invalid:
		return t.rejectClick(err), nil
	}
	return nil, err
}

// askAgain adds the message that asked for what expired once more, however often the button is pressed, and removes the
// button from all cards.
func (t *turn) askAgain(ctx context.Context, id core.ApprovalID) (*core.Finish, error) {
	_, err := t.Store.AskAgain(ctx, id, t.claim.Event.Actor)
	switch core.CategoryOf(err) {
	case "":
		return &core.Finish{End: core.End{Kind: core.EndDecided}, Changes: core.Changes{AskedAgain: id}}, nil
	case core.NotAllowed, core.ApprovalDecided, core.NotFound, core.Invalid:
		return t.rejectClick(err), nil
	}
	return nil, err
}

// errorKey is the key of the post that reported an event's failure; see apology.
func errorKey(seq int64) string { return fmt.Sprintf("error/%d", seq) }

func (t *turn) stop(ctx context.Context) (string, error) {
	s, err := t.Store.Stop(ctx, t.claim.Event.Conversation, t.claim.Event.Actor)
	if err != nil {
		return "", err
	}
	if !s.Running && s.Withdrawn == 0 {
		return t.Sentences.NothingRuns, nil
	}
	goesOn, err := t.runningCall(ctx)
	if err == nil && goesOn != "" {
		return fmt.Sprintf(t.Sentences.GoesOn, goesOn), nil
	}
	return t.Sentences.Stopped, err
}

// runningCall says what the call of the conversation does that has begun and has no result yet: a stop does not cut
// it; "" if there is none. After a stop none begins any more, see the store's BeginIntent.
func (t *turn) runningCall(ctx context.Context) (string, error) {
	decided, err := t.waitingSignals(ctx)
	if err != nil {
		return "", err
	}
	for _, id := range decided {
		a, intent, err := t.Store.Recorded(ctx, id)
		switch core.CategoryOf(err) {
		case "":
			if intent.State() == core.CallRunning {
				return a.Call.Summary, nil
			}
		case core.NotFound, core.ApprovalMismatch, core.Unsupported:
		default:
			return "", err
		}
	}
	return "", nil
}

// status says what runs and what waits in the conversation: messages, decisions and approvals, whose cards are to be
// shown.
func (t *turn) status(ctx context.Context) (text string, show []core.ApprovalID, err error) {
	conversation := t.claim.Event.Conversation
	unended, err := t.Store.Events(ctx, core.EventFilter{Waiting: true, Conversation: conversation, Bare: true})
	if err != nil {
		return "", nil, err
	}
	now := t.Now()
	var lines []string
	messages, decided := 0, 0
	for _, e := range unended {
		running := e.Attempt > 0 && !e.NotBefore.After(now)
		switch e.Kind() {
		case core.KindMessage, core.KindReset:
			if running {
				lines = append(lines, "I am working on a message.")
			} else {
				messages++
			}
		case core.KindSignal:
			if running {
				lines = append(lines, "I am going on with a request that was decided.")
			} else {
				decided++
			}
		}
	}
	if messages > 0 {
		lines = append(lines, fmt.Sprintf("Messages waiting: %d.", messages))
	}
	if decided > 0 {
		lines = append(lines, fmt.Sprintf("Decided requests waiting to go on: %d.", decided))
	}
	open := 0
	for a, err := range t.open(ctx) {
		if err != nil {
			return "", nil, err
		}
		if open++; open > mostShown {
			continue
		}
		show = append(show, a.ID)
		line := "Waiting for an approval: " + a.Call.Summary
		if a.Question != nil {
			line = "Waiting for an answer: " + a.Call.Summary
		}
		if !a.Deadline.IsZero() {
			line += " (expires " + core.In(a.Deadline.Sub(now)) + ")"
		}
		lines = append(lines, line)
	}
	if open > mostShown {
		lines = append(lines, fmt.Sprintf("Further requests that wait here: %d.", open-mostShown))
	}
	if len(lines) == 0 {
		return "Nothing is waiting.", nil, nil
	}
	return strings.Join(lines, "\n"), show, nil
}

// reset starts a new conversation: the conversation's next generation. The paused turns of the old ones end, and their
// cards show that, if the person may withdraw their approvals. The others stay paused, resume in their own session, and
// are named in the reply.
func (t *turn) reset(ctx context.Context, failed int64) (*core.Finish, error) {
	f := &core.Finish{
		End: core.End{Kind: core.EndReplied}, Changes: core.Changes{
			NewGeneration: true,
			Posts:         []core.Post{t.post(core.PostNotice, "notice", t.Sentences.NewConversation)},
		},
	}
	if failed != 0 {
		f.Pressed = []string{errorKey(failed)}
	}
	waiting, err := t.pausedSignals(ctx)
	if err != nil {
		return nil, err
	}
	kept := 0
	for _, id := range waiting {
		paused, err := t.endingTurn(ctx, "", id)
		if err != nil {
			return nil, err
		}
		if paused == nil {
			continue
		}
		may, err := t.mayWithdraw(ctx, core.ApprovalID(id))
		if err != nil {
			return nil, err
		}
		if !may {
			kept++
			continue
		}
		why := core.Errorf(core.ApprovalCanceled, "Cancelled because a new conversation was started.")
		abandoned, done, err := t.abandon(ctx, paused, why, false)
		if err != nil {
			return nil, err
		}
		abandoned.Cancel, abandoned.Reason = true, "a new conversation was started"
		f.Abandoned = append(f.Abandoned, abandoned)
		f.Posts = append(f.Posts, done...)
	}
	if kept > 0 {
		f.Posts[0].Text += fmt.Sprintf(
			"\nRequests of others that still wait: %d. Only the person who asked, or an approver, can withdraw them.",
			kept)
	}
	return f, nil
}

// mayWithdraw reports whether the event's person may cancel an approval by a new conversation. If their groups can't be
// looked up now, they count as in none: the approval stays, and the new conversation begins. A pause without an
// approval has nobody else to ask.
func (t *turn) mayWithdraw(ctx context.Context, id core.ApprovalID) (bool, error) {
	a, err := t.Store.LoadApproval(ctx, id)
	if core.CategoryOf(err) == core.NotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	who, err := t.withGroups(ctx, t.claim.Event.Actor, a)
	if err != nil {
		t.log.Warn("the groups of the person who began a new conversation can't be looked up; the approval stays open",
			"approval", id, "category", core.CategoryOf(err), "err", err)
	}
	return a.MayWithdraw(who), nil
}

// withGroups adds to a person the groups through which they may withdraw approvals. They are looked up only if that
// matters.
func (t *turn) withGroups(ctx context.Context, who core.Actor, approvals ...core.Approval) (core.Actor, error) {
	var wanted []string
	for _, a := range approvals {
		if !a.MayWithdraw(who) {
			wanted = append(wanted, a.Rule.Groups()...)
		}
	}
	dir, ok := t.platforms[t.claim.Event.Platform].(core.Directory)
	if len(wanted) == 0 || !ok {
		return who, nil
	}
	groups, err := dir.Groups(ctx, who, wanted)
	if err == nil {
		who.Groups = groups
	}
	return who, err
}

// waitingSignals returns the conversation's decisions whose turn has not gone on, the latest first.
func (t *turn) waitingSignals(ctx context.Context) (ids []core.ApprovalID, err error) {
	events, err := t.Store.Events(ctx, core.EventFilter{
		Waiting: true, Conversation: t.claim.Event.Conversation, Kinds: []core.Kind{core.KindSignal}, Bare: true,
	})
	for _, e := range events {
		ids = append(ids, e.Body.(core.SignalEvent).Approval)
	}
	return ids, err
}

// pausedSignals returns the signals of the conversation's paused turns: those of open approvals, and of decisions whose
// turn has not resumed yet.
func (t *turn) pausedSignals(ctx context.Context) (ids []core.SignalID, err error) {
	for a, err := range t.open(ctx) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, core.SignalID(a.ID))
	}
	decided, err := t.waitingSignals(ctx)
	for _, id := range decided {
		ids = append(ids, core.SignalID(id))
	}
	return ids, err
}

// click counts a vote. If it does not count, the person gets a private reply.
func (t *turn) click(ctx context.Context) (*core.Finish, error) {
	c, err := t.pressed()
	if err != nil {
		return nil, err
	}
	f := &core.Finish{End: core.End{Kind: core.EndDecided}}
	switch err := t.vote(ctx, c); core.CategoryOf(err) {
	case "":
	case core.ApprovalDecided, core.ApprovalExpired, core.NotAllowed, core.NotFound, core.Invalid,
		core.ProviderUnavailable: // of groupsNow
		f = t.rejectClick(err)
		if c.Disabled && core.CategoryOf(err) != core.NotAllowed { // who may not press has disabled nothing
			f.Redraw = c.Approval
		}
	default:
		return nil, err
	}
	if c.Card != "" {
		f.PressedCard = &core.PressedCard{Approval: c.Approval, Channel: t.claim.Event.Address.Channel, Ref: c.Card}
	}
	return f, nil
}

// pressed reads the click of the event, also one in the form of an earlier gatehouse, which waited in the queue during
// an upgrade.
func (t *turn) pressed() (core.Click, error) {
	p, err := t.platform()
	if err != nil {
		return core.Click{}, err
	}
	c, err := core.ClickOf(t.claim.Event.Event)
	if old, ok := p.(core.OldClicks); ok && err != nil {
		return old.OldClick(t.claim.Event.Event)
	}
	return c, err
}

// rejectClick ends a click that did not count, with a private reply to the person.
func (t *turn) rejectClick(err error) *core.Finish {
	text := t.Harness.Sentence(err)
	if core.CategoryOf(err) == core.ProviderUnavailable { // of groupsNow: a press is not tried again by itself
		text = core.MessageOf(err)
	}
	p := t.post(core.PostPrivate, "private", text)
	p.Person = t.claim.Event.Actor.ID
	return &core.Finish{End: core.End{
		Kind: core.EndIgnored, Category: core.CategoryOf(err), Cause: "the click was not counted",
	}, Changes: core.Changes{Posts: []core.Post{p}}}
}

// vote looks up which of the rule's groups the person is in, if it depends on them, and then decides. A withdrawal is
// the requester's, whatever their groups.
func (t *turn) vote(ctx context.Context, c core.Click) error {
	e := &t.claim.Event
	who := t.withName(ctx, e.Actor)
	if dir, ok := t.platforms[e.Platform].(core.Directory); ok && c.Choice != core.Withdraw {
		a, err := t.Store.LoadApproval(ctx, c.Approval)
		if err != nil && core.CategoryOf(err) != core.NotFound { // Vote records one that is not found
			return err
		}
		wanted := a.Rule.Groups()
		other := func(group string) bool { return !slices.Contains(wanted, group) }
		who.Groups = slices.DeleteFunc(slices.Clone(who.Groups), other) // the press may have come with some
		if !a.Rule.MayDecide(who, a.Requester) {
			if who.Groups, err = t.groupsNow(ctx, dir, who, wanted); err != nil {
				return err
			}
		}
	}
	_, err := t.Approvals.Vote(ctx, c, who, e.Seq)
	return err
}

// groupsNow asks a platform, for as long as membershipTime, which groups a person is in. Error: provider_unavailable,
// with a sentence for who pressed; nothing is decided by what was known before.
func (t *turn) groupsNow(ctx context.Context, dir core.Directory, who core.Actor, wanted []string) ([]string, error) {
	asking, done := context.WithTimeout(ctx, membershipTime)
	defer done()
	over, _ := asking.Deadline()
	for wait := firstAskAgain; ; wait *= 2 {
		groups, err := dir.Groups(asking, who, wanted)
		if ctx.Err() != nil { // the process ends: the press waits for the next one
			return nil, context.Cause(ctx)
		}
		if core.CategoryOf(err) != core.ProviderUnavailable {
			return groups, err
		}
		if wait = max(wait, core.RetryAfterOf(err)); time.Until(over) < wait {
			unsure := strings.TrimSuffix(core.MessageOf(err), ".")
			return nil, core.Wrap(core.ProviderUnavailable, err, "%s; press again.", unsure)
		}
		pause(asking, wait)
	}
}
