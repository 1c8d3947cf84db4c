package main

import (
	"context"
	"fmt"

	"gatehouse/approvals"
	"gatehouse/core"
)

type approvalsCmd struct {
	List    approvalsListCmd    `cmd:"" help:"List approvals, latest first."`
	Show    approvalsShowCmd    `cmd:"" help:"Show an approval."`
	Approve approvalsApproveCmd `cmd:"" help:"Approve, as this machine's admin."`
	Deny    approvalsDenyCmd    `cmd:"" help:"Refuse, as this machine's admin."`
	Log     approvalsLogCmd     `cmd:"" help:"Print the audit log."`
}

type approvalsListCmd struct {
	asJSON
	State        []string `enum:"open,approved,refused,expired,cancelled" placeholder:"STATE" help:"In these states alone: open, approved, refused, expired, cancelled."`
	Conversation string   `help:"Of this conversation alone."`
	Limit        int      `default:"50" help:"How many; 0 for all."`
}

// Run lists.
func (c approvalsListCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		f := core.ApprovalFilter{Conversation: core.ConversationID(c.Conversation), Limit: c.Limit}
		for _, s := range c.State {
			f.States = append(f.States, core.ApprovalState(s))
		}
		all, err := store.ListApprovals(ctx, f)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(list(all, viewApproval))
		}
		return a.table("There are no such approvals.", []string{"APPROVAL", "STATE", "WHAT", "ASKED BY", "CONVERSATION", "ASKED", "DEADLINE"}, list(all, func(p core.Approval) []string {
			return []string{string(p.ID), string(p.State), short(core.MaskText(p.Call.Summary)), nameOf(p.Requester), string(p.Conversation), stamp(p.CreatedAt), stamp(p.Deadline)}
		}))
	})
}

type approvalsShowCmd struct {
	asJSON
	ID string `arg:"" help:"An approval."`
}

// Run shows.
func (c approvalsShowCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		p, err := store.LoadApproval(ctx, core.ApprovalID(c.ID))
		if err != nil {
			return missing(err, c.ID)
		}
		intent, err := store.LoadIntent(ctx, p.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(approvalDetail{viewApproval(p), viewIntent(intent)})
		}
		a.showApproval(p, viewIntent(intent))
		return nil
	})
}

func (a *app) showApproval(p core.Approval, intent *intentView) {
	card := approvals.CardOf(p)
	votes := ""
	for _, v := range p.Votes {
		votes += fmt.Sprintf("%s: %s %s\n", nameOf(v.Actor), v.Choice, core.MaskText(v.Reason))
	}
	needed := ""
	if card.Quorum > 1 {
		needed = fmt.Sprintf("%d of %d", card.Votes, card.Quorum)
	}
	a.fields("approval", string(p.ID), "state", p.StateSentence(), "what", card.Summary, "tool", card.Tool, "arguments", card.Arguments,
		"asked by", nameOf(p.Requester)+" ("+p.Requester.ID+")", "rule", p.Rule.Name, "approvers", fmt.Sprint(p.Rule.Approvers), "approvals", needed,
		"votes", votes, "reason", core.MaskText(p.Reason), "conversation", string(p.Conversation), "session", string(p.Session), "invocation", string(p.Invocation),
		"asked", stamp(p.CreatedAt), "decided", stamp(p.DecidedAt), "deadline", stamp(p.Deadline), "run", toolEnd(intent))
}

// verdictFlags are those of both decisions.
type verdictFlags struct {
	asJSON
	ID     string `arg:"" help:"An approval."`
	Reason string `placeholder:"R" help:"Why, for those who asked."`
	As     string `placeholder:"NAME" help:"Who decides, as people read it; it stays marked as the local admin."`
}

type approvalsApproveCmd struct{ verdictFlags }

// Run approves.
func (c approvalsApproveCmd) Run(ctx context.Context, a *app) error {
	return a.decide(ctx, c.verdictFlags, core.Approve)
}

type approvalsDenyCmd struct{ verdictFlags }

// Run refuses.
func (c approvalsDenyCmd) Run(ctx context.Context, a *app) error {
	return a.decide(ctx, c.verdictFlags, core.Deny)
}

// decide asks the desk. What was decided already stands: its sentence, and exit code 1.
func (a *app) decide(ctx context.Context, f verdictFlags, choice core.Choice) error {
	return a.withStore(ctx, func(store core.Store) error {
		click := core.Click{Approval: core.ApprovalID(f.ID), Choice: choice, Reason: f.Reason}
		d, err := approvals.NewService(store).AdminVote(ctx, click, f.As)
		if err != nil {
			return missing(err, f.ID)
		}
		if f.JSON {
			return a.json(viewApproval(d.Approval))
		}
		a.say("%s %s", d.Approval.StateSentence(), core.MaskText(d.Approval.Call.Summary))
		return nil
	})
}

// missing names the approval that is not there.
func missing(err error, id string) error {
	if core.CategoryOf(err) == core.NotFound {
		return core.Errorf(core.NotFound, "There is no approval %q; gatehouse approvals list shows those there are.", id)
	}
	return err
}
