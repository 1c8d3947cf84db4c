package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/storage"
)

// Approvals is gatehouse approvals.
type Approvals struct {
	List       approvalsListCmd    `cmd:"" help:"List approvals and questions, latest first."`
	Show       approvalsShowCmd    `cmd:"" help:"Show an approval or a question."`
	Approve    approvalsApproveCmd `cmd:"" help:"${approvals_approve}"`
	Deny       approvalsDenyCmd    `cmd:"" help:"${approvals_deny}"`
	Answer     approvalsAnswerCmd  `cmd:"" help:"Answer a question as the local admin."`
	Edit       Edit                `cmd:"" help:"${approvals_edit}"`
	Log        approvalsLogCmd     `cmd:"" help:"Print or verify the audit log."`
	Remembered rememberedCmd       `cmd:"" help:"List or revoke approvals that are remembered."`
	Explain    Explain             `cmd:"" help:"Print what the policy says of a call, and why."`
	Test       PolicyTest          `cmd:"" help:"${approvals_test}"`
	Verify     Verify              `cmd:"" help:"Verify the proof of a decision, without asking a server."`
}

// approvalView is the JSON output of an approval.
type approvalView struct {
	ID           core.ApprovalID     `json:"id"`
	State        core.ApprovalState  `json:"state"`
	Conversation core.ConversationID `json:"conversation"`
	Session      core.SessionID      `json:"session"`
	Invocation   core.InvocationID   `json:"invocation"`
	Tool         string              `json:"tool"`
	Summary      string              `json:"summary"`
	Arguments    json.RawMessage     `json:"arguments"` // secrets masked
	Digest       string              `json:"digest"`
	Requester    core.Actor          `json:"requester"`
	Rule         core.Rule           `json:"rule"`
	Votes        []core.Vote         `json:"votes"` // secrets masked
	DecidedBy    *core.Actor         `json:"decided_by,omitempty"`
	Reason       string              `json:"reason,omitempty"` // secrets masked
	CreatedAt    time.Time           `json:"created_at"`
	DecidedAt    time.Time           `json:"decided_at,omitzero"`
	Deadline     time.Time           `json:"deadline,omitzero"`
	Begun        bool                `json:"begun"`

	Question *question.Question `json:"question,omitempty"` // secrets masked
	Answer   json.RawMessage    `json:"answer,omitempty"`   // of a question that was answered; secrets masked
}

var approvalTable = table[approvalView]{
	none: "No approvals found.",
	header: []string{
		"APPROVAL", "STATE", "ACTION", "REQUESTED BY", "CONVERSATION", "REQUESTED", "DEADLINE",
	},
	row: func(p approvalView) []string {
		return []string{
			string(p.ID), string(p.State), cli.Short(p.action()), nameOf(p.Requester), string(p.Conversation),
			cli.Stamp(p.CreatedAt), cli.Stamp(p.Deadline),
		}
	},
}

func viewApproval(a core.Approval) approvalView {
	v := approvalView{
		ID: a.ID, State: a.State, Conversation: a.Conversation, Session: a.Session, Invocation: a.Invocation,
		Tool:    a.Call.Tool,
		Summary: a.Call.Mask(a.Call.Summary), Arguments: a.Call.Masked(), Digest: a.Call.Digest,
		Requester: a.Requester, Rule: a.Rule, Votes: maskedVotes(a.Votes), Reason: mask.Text(a.Reason),
		CreatedAt: a.CreatedAt.UTC(), DecidedAt: a.DecidedAt.UTC(),
		Deadline: a.Deadline.UTC(), Begun: a.Begun,
	}
	if a.State != core.Open {
		v.DecidedBy = &a.DecidedBy
	}
	if a.Question != nil {
		v.Question, v.Answer = maskedQuestion(*a.Question), maskedAnswer(a.Answer())
	}
	return v
}

// action is what an approval is for, in a line: the call or, of a question, its text and its answer.
func (v approvalView) action() string {
	if v.Question == nil {
		return v.Summary
	}
	text := "Question: " + v.Question.Text
	if v.Answer != nil {
		text += " – " + strings.ReplaceAll(v.Question.Shown(v.Answer), "\n", ", ")
	}
	return text
}

type approvalsListCmd struct {
	cli.JSONFlag
	State        []string `enum:"open,approved,denied,answered,expired,cancelled" placeholder:"STATE" help:"${approvals_list_state}"`
	Conversation string   `help:"Only approvals of this conversation."`
	Limit        int      `default:"50" help:"The maximum number of approvals; 0 for all."`
}

// Run prints the list.
func (c approvalsListCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	f := core.ApprovalFilter{Conversation: core.ConversationID(c.Conversation), Limit: c.Limit}
	for _, s := range c.State {
		f.States = append(f.States, core.ApprovalState(s))
	}
	all, err := store.ListApprovals(ctx, f)
	if err != nil {
		return err
	}
	views := make([]approvalView, len(all))
	for i, p := range all {
		if p, _, err = recorded(ctx, store, p.ID); err != nil {
			return err
		}
		views[i] = viewApproval(p)
	}
	return approvalTable.print(a, c.JSONFlag, views)
}

type approvalsShowCmd struct {
	cli.JSONFlag
	ID     string `arg:"" help:"The id of an approval, or the beginning or end of one id alone."`
	Reveal bool   `help:"${approvals_show_reveal}"`
}

// Run prints one approval.
func (c approvalsShowCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	id, err := approvalID(ctx, store, c.ID)
	if err != nil {
		return unknownApproval(err, c.ID)
	}
	p, intent, err := store.Recorded(ctx, id)
	if err == nil && c.Reveal {
		p, err = store.RevealApproval(ctx, id, core.LocalAdmin, fmt.Sprintf("system user %q", systemUser()))
	}
	if err != nil {
		return unknownApproval(err, c.ID)
	}
	view, card := viewApproval(p), approvals.CardOf(p, intent)
	if c.Reveal {
		view.Arguments, card.Arguments = p.Call.Arguments, mask.Escape(string(p.Call.Arguments))
		view.Question, view.Answer = p.Question, p.Answer()
	}
	if c.JSON {
		return a.PrintJSON(detailOf(view, card, viewIntent(p.Call, intent)))
	}
	if p.Question != nil {
		showQuestion(a, p, view)
		return nil
	}
	showApproval(a, p, card, intent)
	return nil
}

func showApproval(a *cli.App, p core.Approval, card core.Card, intent *core.IntentRecord) {
	votes := ""
	for _, v := range p.Votes {
		votes += strings.TrimSpace(fmt.Sprintf("%s: %s %s", nameOf(v.Actor), v.Choice, mask.Text(v.Reason))) + "\n"
	}
	needed := ""
	if card.Quorum > 1 {
		needed = fmt.Sprintf("%d of %d", len(card.Voters), card.Quorum)
	}
	a.Fields(
		"approval", string(p.ID),
		"state", p.StateSentence(),
		"action", card.Summary,
		"tool", card.Tool,
		"arguments", card.Arguments,
		"digest", p.Call.Digest,
		"dropped change", droppedBy(card),
		"requested by", nameAndID(p.Requester),
		"rule", p.Rule.Name,
		"approvers", strings.Join(p.Rule.Approvers, ", "),
		"approvals", needed,
		"votes", votes,
		"reason", mask.Text(p.Reason),
		"remembered", remembered(card),
		"conversation", string(p.Conversation),
		"session", string(p.Session),
		"invocation", string(p.Invocation),
		"requested", cli.Stamp(p.CreatedAt),
		"decided", cli.Stamp(p.DecidedAt),
		"deadline", cli.Stamp(p.Deadline),
		"call", runOf(card),
		"result", viewIntent(p.Call, intent).result(),
	)
}

// droppedBy is whose change of an earlier request the approval does not have; "" = nobody's.
func droppedBy(card core.Card) string {
	if card.Asked.Dropped == "" {
		return ""
	}
	return "by " + card.Asked.Dropped + ", to an earlier request"
}
