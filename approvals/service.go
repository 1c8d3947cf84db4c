package approvals

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"gatehouse/core"
)

// Desk is where approvals are opened, decided, expired and cancelled.
type Service struct {
	store    core.Approvals
	sessions core.Sessions
}

// NewService makes a service over the stored approvals, and the sessions that cards quote.
func NewService(store core.Approvals, sessions core.Sessions) *Service {
	return &Service{store: store, sessions: sessions}
}

// Request is what an agent suspends with, as the descriptor's metadata: the call and the rule it falls under.
type Request struct {
	Call core.Call `json:"call"`
	Rule core.Rule `json:"rule"`
}

// Open makes the approval of a pause, as data for the turn's Finish: nothing is stored here. ok is false for a pause that asks
// for no approval. An allowed call comes back approved already. The approval's card, where people are asked, is a post.
func (d *Service) Open(turn core.Turn, session core.SessionID, s core.Suspended) (a core.Approval, posts []core.Post, ok bool, err error) {
	if _, asked := s.Descriptor.Metadata["call"]; !asked {
		return core.Approval{}, nil, false, nil
	}
	var r Request
	text, err := json.Marshal(s.Descriptor.Metadata)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return core.Approval{}, nil, false, core.Wrap(core.Internal, err, "The approval could not be opened.")
	}
	a = core.Approval{
		ID: core.ApprovalID(s.Descriptor.SignalID), Invocation: s.Invocation, Session: session, Conversation: turn.Conversation, Address: turn.Address,
		Call: r.Call, Requester: turn.Actor, Rule: r.Rule, State: core.Open,
	}
	if r.Rule.Verdict == core.VerdictAllow {
		a.State, a.DecidedBy = core.Approved, core.Actor{ID: "policy", Name: "policy: " + r.Rule.Name}
		return a, nil, true, nil
	}
	card := core.Post{Key: a.CardKey(), To: turn.Address, Conversation: turn.Conversation, Kind: core.PostCard, Approval: a.ID, Event: turn.Event}
	return a, []core.Post{card}, true, nil
}

// Vote decides for a person. event is the click's, whose accept time counts; 0 means now. Errors: those of core's Approval.Decide,
// each a sentence for that person, and not_found.
func (d *Service) Vote(ctx context.Context, c core.Click, who core.Actor, event int64) (core.Decided, error) {
	if err := checkReason(c.Reason); err != nil {
		return core.Decided{}, err
	}
	return d.store.Decide(ctx, core.Decision{Approval: c.Approval, Event: event, Vote: &core.Vote{Actor: who, Choice: c.Choice, Reason: c.Reason}})
}

// Approvers gives whom an open approval's rule names, to look their groups up before the vote.
func (d *Service) Approvers(ctx context.Context, id core.ApprovalID) ([]string, error) {
	a, err := d.store.LoadApproval(ctx, id)
	return a.Rule.Approvers, err
}

// AdminVote decides for whoever runs the command line: it is audited as local-admin, whatever name is given, and no rule binds it.
func (d *Service) AdminVote(ctx context.Context, c core.Click, name string) (core.Decided, error) {
	if err := checkReason(c.Reason); err != nil {
		return core.Decided{}, err
	}
	who := core.Actor{ID: "local-admin", Name: "local-admin"}
	if name != "" {
		who.Name = name + " (local-admin)"
	}
	return d.store.Decide(ctx, core.Decision{Approval: c.Approval, Admin: true, Vote: &core.Vote{Actor: who, Choice: c.Choice, Reason: c.Reason}})
}

// maxReason is how many characters a reason may have: it stands on a card.
const maxReason = 2000

func checkReason(reason string) error {
	if utf8.RuneCountInString(reason) > maxReason {
		return core.Errorf(core.Invalid, "That reason is too long; %d characters are enough.", maxReason)
	}
	return nil
}

// Expire ends an approval whose time is over. A repeat, or one decided meanwhile, is no error. While a click that came in time
// still waits to be counted, the error is store_busy: again later.
func (d *Service) Expire(ctx context.Context, id core.ApprovalID) error {
	_, err := d.store.Decide(ctx, core.Decision{Approval: id, Expire: true, By: core.Actor{ID: "clock", Name: "the deadline"}})
	switch core.CategoryOf(err) {
	case core.ApprovalDecided, core.NotFound:
		return nil
	}
	return err
}

// Cancel withdraws every open approval of the conversation that who asked for or may decide; it gives how many. Each paused turn
// goes on and reports the cancellation.
func (d *Service) Cancel(ctx context.Context, conversation core.ConversationID, who core.Actor) (int, error) {
	open, err := d.store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Open}, Conversation: conversation})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, a := range open {
		if a.Requester.ID != who.ID && !a.Rule.MayDecide(who, a.Requester) {
			continue
		}
		_, err := d.store.Decide(ctx, core.Decision{Approval: a.ID, Cancel: true, By: who, Reason: "withdrawn by " + nameOf(who)})
		switch core.CategoryOf(err) {
		case "":
			n++
		case core.ApprovalDecided: // decided meanwhile: it stands
		default:
			return n, err
		}
	}
	return n, nil
}

// Card draws an approval from its stored state. With context it tells the last that was said in its conversation, for somebody who
// may not see that.
func (d *Service) Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error) {
	a, err := d.store.LoadApproval(ctx, id)
	if err != nil {
		return core.Card{}, err
	}
	card := CardOf(a)
	if context {
		card.Context, err = d.lastSaid(ctx, a.Session)
	}
	return card, err
}

// Numbers of what a card tells of its conversation.
const (
	lastLines = 6   // messages looked at
	lineBytes = 500 // of each, at most
)

// lastSaid gives what people and the agent said last, oldest first, secrets masked.
func (d *Service) lastSaid(ctx context.Context, id core.SessionID) ([]core.Line, error) {
	rec, err := d.sessions.LoadSession(ctx, id, core.Writer{})
	if err != nil || rec == nil || rec.Messages == nil {
		return nil, err
	}
	last, err := rec.Messages.Tail(ctx, lastLines)
	if err != nil {
		return nil, err
	}
	var lines []core.Line
	for _, m := range last {
		text := core.MaskText(m.Content.String())
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

// OpenCards gives the cards of a conversation that wait, oldest first.
func (d *Service) OpenCards(ctx context.Context, conversation core.ConversationID) ([]core.Card, error) {
	open, err := d.store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Open}, Conversation: conversation})
	if err != nil {
		return nil, err
	}
	cards := make([]core.Card, len(open))
	for i, a := range open {
		cards[len(open)-1-i] = CardOf(a)
	}
	return cards, nil
}
