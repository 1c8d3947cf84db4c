package approvals

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/mask"
)

// Service opens, decides, expires and cancels approvals.
type Service struct {
	store     core.Approvals
	sessions  core.Sessions
	platforms core.Platforms
	running   []core.Platform
	now       func() time.Time
	editing   Editing
	agents    Agents
}

// NewService makes a service. Cards quote messages from sessions. The configured ones of the platforms may get copies
// of cards from each other's conversations.
func NewService(store core.Approvals, sessions core.Sessions, platforms ...core.KnownPlatform) *Service {
	return &Service{store: store, sessions: sessions, platforms: platforms, now: time.Now}
}

// Open returns the approval of a pause, as data for the turn's Finish; it stores nothing. ok is false for a pause that
// requests no approval. The approval of an allowed call is already approved. If people must decide, posts has the
// approval's card and its copies.
func (s *Service) Open(
	turn core.Turn, session core.SessionID, pause core.Suspended,
) (a core.Approval, posts []core.Post, ok bool) {
	r := pause.Descriptor.Approval
	if r == nil {
		return core.Approval{}, nil, false
	}
	a = core.Approval{
		ID: core.ApprovalID(pause.Descriptor.SignalID), Invocation: pause.Invocation, Session: session,
		Conversation: turn.Conversation, Address: turn.Address,
		Call: r.Call, Question: r.Question, Asked: r.Asked, Requester: turn.Actor, Rule: r.Rule, Use: r.Use,
		State: core.Open,
	}
	if r.Rule.Verdict == core.VerdictAllow {
		a.State, a.DecidedBy = core.Approved, core.Actor{ID: "policy", Name: "policy: " + r.Rule.Name}
		a.Reason = r.Rule.Why
		if a.Use == nil {
			return a, nil, true
		}
		return a, []core.Post{{ // nothing that an approver's press allowed runs silently
			Key: a.CardKey(), To: a.Address, Conversation: a.Conversation, Kind: core.PostCard, Approval: a.ID,
			Event: turn.Event,
		}}, true
	}
	return a, s.posts(a, a.CardKey(), turn.Event, ""), true
}

// Remind posts the cards of an open approval once more, or tells the people to whom it has been escalated. Its key
// tells the occasions of an approval apart: repeating one does nothing. An approval that is decided, expired or pruned
// is not an error.
func (s *Service) Remind(ctx context.Context, id core.ApprovalID, occasion core.Occasion, key string) error {
	a, err := s.store.LoadApproval(ctx, id)
	if err == nil {
		_, err = s.store.Decide(ctx, core.Decision{
			Approval: id, Remind: occasion, Task: key, Posts: s.posts(a, a.CardKey()+"/"+key, 0, occasion),
			By: core.Actor{ID: "clock", Name: "the schedule"},
		})
	}
	switch core.CategoryOf(err) {
	case core.ApprovalDecided, core.ApprovalExpired, core.NotFound:
		return nil
	}
	return err
}

// Vote decides or answers for a person, withdraws the request for who asked, or changes the arguments for an approver.
// event is the number of the click's event: the vote counts from the time at which that event was accepted; 0 means
// now. Errors: those of core's Approval.Decide, each with a message for that person, and not_found.
func (s *Service) Vote(ctx context.Context, c core.Click, who core.Actor, event int64) (core.Decided, error) {
	return s.vote(ctx, c, who, core.Decision{Event: event})
}

// AdminVote decides for the person at the command line. It is audited as local-admin, with the name and the user of the
// operating system, and no rule restricts it.
func (s *Service) AdminVote(ctx context.Context, c core.Click, name, user string) (core.Decided, error) {
	who := core.Actor{ID: core.LocalAdmin, Name: core.LocalAdmin}
	if name != "" {
		who.Name = name + " (local-admin)"
	}
	return s.vote(ctx, c, who, core.Decision{Admin: true, Detail: fmt.Sprintf("system user %q", user), As: name})
}

// maxReason is the limit of a reason in characters: it is shown on a card.
const maxReason = 2000

// maxAnswer is the limit of an answer in bytes: a form of texts, each as long as it may be, is shorter, whatever its
// characters.
const maxAnswer = 256 << 10

func (s *Service) vote(ctx context.Context, c core.Click, who core.Actor, d core.Decision) (core.Decided, error) {
	if utf8.RuneCountInString(c.Reason) > maxReason {
		return core.Decided{},
			core.Errorf(core.Invalid, "That reason is too long. The limit is %d characters.", maxReason)
	}
	if len(c.Answer) > maxAnswer {
		return core.Decided{}, core.Errorf(core.Invalid, "That answer is too long. The limit is %d bytes.", maxAnswer)
	}
	if c.Choice == core.Forget {
		a, err := s.store.LoadApproval(ctx, c.Approval)
		if err != nil {
			return core.Decided{}, err
		}
		if a.Use != nil { // its card stops what its approval allows
			c.Approval = a.Use.Of
		}
	}
	if c.Choice == core.Approve || c.Choice == core.Edit {
		a, err := s.store.LoadApproval(ctx, c.Approval)
		// Decide says that it is unknown, and records the click
		if err != nil && core.CategoryOf(err) != core.NotFound {
			return core.Decided{}, err
		}
		d.Altered = err == nil && altered(a.Call)
		if err == nil && c.Choice == core.Edit && a.State == core.Open && a.Rule.Edit {
			call, err := s.changed(a, json.RawMessage(c.Changed))
			if err != nil {
				return core.Decided{Approval: a}, err
			}
			d.Edit = &call
		}
	}
	answer := json.RawMessage(c.Answer)
	if c.Choice == core.Answer && c.Option > 0 {
		a, err := s.store.LoadApproval(ctx, c.Approval)
		if err != nil {
			return core.Decided{}, err
		}
		if a.Question != nil {
			answer, _ = a.Question.Option(c.Option) // one that is not there is refused as an answer
		}
	}
	d.Approval, d.Vote = c.Approval,
		&core.Vote{Actor: who, Choice: c.Choice, Reason: c.Reason, Edits: c.Edits, Remember: c.Remember, Answer: answer}
	decided, err := s.store.Decide(ctx, d)
	if core.CategoryOf(err) == core.NotAllowed && c.Choice != core.Withdraw {
		return decided, refusedToAsker(decided.Approval, who, err)
	}
	return decided, err
}

// refusedToAsker is why somebody may not decide: who asked, and is no approver, is told that others decide. A card says
// who they are; here nobody knows what they are called.
func refusedToAsker(a core.Approval, who core.Actor, err error) error {
	a.Rule.Self = true
	if a.ID == "" || a.Question != nil || !a.AskedBy(who) || a.Rule.MayDecide(who, a.Requester) {
		return err
	}
	return core.Wrap(core.NotAllowed, err, "You asked for this, and others decide it. See “May decide” on its "+
		"card.")
}

// Expire ends an approval after its deadline. An approval that is already decided or expired is not an error. While a
// click that arrived in time is still in the queue, the error is store_busy: try again later.
func (s *Service) Expire(ctx context.Context, id core.ApprovalID) error {
	_, err := s.store.Decide(ctx,
		core.Decision{Approval: id, Expire: true, By: core.Actor{ID: "clock", Name: "the deadline"}})
	switch core.CategoryOf(err) {
	case core.ApprovalDecided, core.NotFound:
		return nil
	}
	return err
}

// Cancel cancels those of the approvals that are open and that who may withdraw, and returns how many it cancelled.
// Each paused turn resumes and reports the cancellation.
func (s *Service) Cancel(ctx context.Context, ids []core.ApprovalID, who core.Actor) (int, error) {
	n := 0
	for _, id := range ids {
		a, err := s.store.LoadApproval(ctx, id)
		if err != nil {
			return n, err
		}
		if !a.MayWithdraw(who) {
			continue
		}
		_, err = s.store.Decide(ctx,
			core.Decision{Approval: a.ID, Cancel: true, By: who, Reason: "withdrawn by " + withdrawer(who, a)})
		switch core.CategoryOf(err) {
		case "":
			n++
		case core.ApprovalDecided: // already decided: the decision holds
		default:
			return n, err
		}
	}
	return n, nil
}

// withdrawer names who withdraws a request, for people: never by an id.
func withdrawer(who core.Actor, a core.Approval) string {
	if a.AskedBy(who) {
		return cmp.Or(who.Name, "the person who asked")
	}
	return cmp.Or(who.Name, "an approver")
}

// Card returns an approval's card, from its state and that of its call, as the audit log records them. If the log
// contradicts what is stored, the card says so, and no more than what the log does not contradict. With context it has
// the last messages of the conversation, for approvers who can't see the conversation.
func (s *Service) Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error) {
	card, a, err := s.card(ctx, id, neighbours{})
	if err == nil && context && a != nil {
		card.Context, err = s.lastMessages(ctx, *a)
	}
	return card, err
}

// Cards returns the cards of approvals without context; one that is gone is left out.
func (s *Service) Cards(ctx context.Context, ids []core.ApprovalID) ([]core.Card, error) {
	near := neighbours{}
	var cards []core.Card
	for _, id := range ids {
		card, _, err := s.card(ctx, id, near)
		switch core.CategoryOf(err) {
		case "":
			cards = append(cards, card)
		case core.NotFound:
		default:
			return nil, err
		}
	}
	return cards, nil
}

// card returns an approval's card, and what is stored of it; nil if the audit log contradicts that.
func (s *Service) card(ctx context.Context, id core.ApprovalID, near neighbours) (core.Card, *core.Approval, error) {
	a, intent, err := s.store.Recorded(ctx, id)
	if errors.As(err, new(*audit.Contradiction)) {
		return contradictedCard(a, core.MessageOf(err)), nil, nil
	}
	if err != nil {
		return core.Card{}, nil, err
	}
	a.Rule = a.Rule.At(a.CreatedAt, s.now())
	card := CardOf(a, intent)
	if a.State == core.Open && a.Question == nil && a.External == nil {
		err = s.before(ctx, a, &card, near)
	}
	if err == nil {
		err = s.left(ctx, a, &card, near)
	}
	return card, &a, err
}

// How much of the conversation a card shows.
const (
	lastLines = 6   // messages
	lineBytes = 500 // bytes of each message
)

// lastMessages returns the last messages of people and the agent, oldest first, with secrets masked, those of the
// approval's call too.
func (s *Service) lastMessages(ctx context.Context, a core.Approval) ([]core.Line, error) {
	rec, err := s.sessions.LoadSession(ctx, a.Session, core.Writer{})
	if err != nil || rec == nil || rec.Messages == nil {
		return nil, err
	}
	last, err := rec.Messages.Tail(ctx, lastLines)
	if err != nil {
		return nil, err
	}
	var lines []core.Line
	for _, m := range last {
		text := m.Content.String()
		if who, ok := m.Content.Speaker(); ok {
			// the name can't pretend to be more
			text = fmt.Sprintf(`"%s": %s`, strings.ReplaceAll(mask.EscapeLine(who.Name), `"`, "'"), m.Content.Own())
		}
		text = a.Call.Mask(text)
		if text == "" || m.Role != core.User && m.Role != core.Assistant {
			continue
		}
		if len(text) > lineBytes {
			text = strings.ToValidUTF8(text[:lineBytes], "") + " …"
		}
		lines = append(lines, core.Line{Role: m.Role, Text: text})
	}
	return lines, nil
}

// maxCards is how many cards of a conversation are shown at a time.
const maxCards = 50

// OpenCards returns the open cards of a conversation, the latest ones, oldest first.
func (s *Service) OpenCards(ctx context.Context, conversation core.ConversationID) ([]core.Card, error) {
	open, err := s.store.ListApprovals(ctx, core.ApprovalFilter{
		States: []core.ApprovalState{core.Open}, Conversation: conversation, Limit: maxCards,
	})
	if err != nil {
		return nil, err
	}
	var ids []core.ApprovalID
	for _, a := range slices.Backward(open) {
		ids = append(ids, a.ID)
	}
	return s.Cards(ctx, ids)
}
