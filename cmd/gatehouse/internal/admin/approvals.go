package admin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

// Approvals is gatehouse approvals.
type Approvals struct {
	List       approvalsListCmd    `cmd:"" help:"List approvals and questions, latest first."`
	Show       approvalsShowCmd    `cmd:"" help:"Show an approval or a question."`
	Approve    approvalsApproveCmd `cmd:"" help:"Approve as the local admin."`
	Deny       approvalsDenyCmd    `cmd:"" help:"Deny as the local admin."`
	Answer     approvalsAnswerCmd  `cmd:"" help:"Answer a question as the local admin."`
	Edit       Edit                `cmd:"" help:"Change the arguments of an open approval as the local admin, where its rule allows that."`
	Log        approvalsLogCmd     `cmd:"" help:"Print or verify the audit log."`
	Remembered rememberedCmd       `cmd:"" help:"List or revoke approvals that are remembered."`
	Explain    Explain             `cmd:"" help:"Print what the policy says of a call, and why."`
	Test       PolicyTest          `cmd:"" help:"Compare what the policy says of a table of calls with what is expected."`
	Verify     Verify              `cmd:"" help:"Verify the proof of a decision, without asking a server."`
}

type approvalsListCmd struct {
	cli.JSONFlag
	State        []string `enum:"open,approved,denied,answered,expired,cancelled" placeholder:"STATE" help:"Only approvals in these states: open, approved, denied, answered, expired, cancelled."`
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
	for i, p := range all {
		if all[i], _, err = recorded(ctx, store, p.ID); err != nil {
			return err
		}
	}
	if c.JSON {
		return a.PrintJSON(cli.List(all, viewApproval))
	}
	return a.Table("No approvals found.",
		[]string{"APPROVAL", "STATE", "ACTION", "REQUESTED BY", "CONVERSATION", "REQUESTED", "DEADLINE"},
		cli.List(all, func(p core.Approval) []string {
			return []string{
				string(p.ID), string(p.State), cli.Short(action(p)), nameOf(p.Requester), string(p.Conversation),
				cli.Stamp(p.CreatedAt), cli.Stamp(p.Deadline),
			}
		}))
}

type approvalsShowCmd struct {
	cli.JSONFlag
	ID     string `arg:"" help:"The id of an approval, or the beginning of one id alone."`
	Reveal bool   `help:"Show the arguments, or the question and its answer, without masks. The audit log records who did."`
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
		votes += fmt.Sprintf("%s: %s %s\n", nameOf(v.Actor), v.Choice, mask.Text(v.Reason))
	}
	needed := ""
	if card.Quorum > 1 {
		needed = fmt.Sprintf("%d of %d", len(card.Voters), card.Quorum)
	}
	a.Fields("approval", string(p.ID), "state", p.StateSentence(), "action", card.Summary, "tool", card.Tool,
		"arguments", card.Arguments, "digest", p.Call.Digest, "dropped change", droppedBy(card),
		"requested by", nameOf(p.Requester)+" ("+p.Requester.ID+")", "rule", p.Rule.Name,
		"approvers", fmt.Sprint(p.Rule.Approvers), "approvals", needed,
		"votes", votes, "reason", mask.Text(p.Reason), "remembered", remembered(card),
		"conversation", string(p.Conversation), "session", string(p.Session), "invocation", string(p.Invocation),
		"requested", cli.Stamp(p.CreatedAt), "decided", cli.Stamp(p.DecidedAt), "deadline", cli.Stamp(p.Deadline),
		"call", runOf(card), "result", viewIntent(p.Call, intent).result())
}

// droppedBy is whose change of an earlier request the approval does not have; "" = nobody's.
func droppedBy(card core.Card) string {
	if card.Asked.Dropped == "" {
		return ""
	}
	return "by " + card.Asked.Dropped + ", to an earlier request"
}

// decisionFlags are those of approve and deny.
type decisionFlags struct {
	cli.JSONFlag
	ID     string `arg:"" help:"The id of an approval, or the beginning of one id alone."`
	Reason string `placeholder:"R" help:"The reason, which the requester reads."`
	As     string `placeholder:"NAME" help:"The name that people read as the decider; the audit log records the local admin, with this name and the user of the operating system."`
}

type approvalsApproveCmd struct {
	decisionFlags
	Digest string `placeholder:"SHA256" help:"The digest of the call, as gatehouse approvals show prints it. A call that has another one by now, because an approver changed its arguments, is not approved."`
}

// Run approves.
func (c approvalsApproveCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	return decide(ctx, a, store, c.decisionFlags, core.Approve, c.Digest)
}

type approvalsDenyCmd struct{ decisionFlags }

// Run denies.
func (c approvalsDenyCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	return decide(ctx, a, store, c.decisionFlags, core.Deny, "")
}

// decide votes as the local admin, on the call with a digest, or on any if that is empty. On an approval that is
// already decided it fails with the decision, and exit code 1.
func decide(
	ctx context.Context, a *cli.App, store *storage.Store, f decisionFlags, choice core.Choice, digest string,
) error {
	p, err := votedOn(ctx, store, f.ID)
	if err != nil {
		return err
	}
	if digest != "" && p.Call.Digest != "" && digest != p.Call.Digest {
		return core.Errorf(core.Invalid,
			"Nothing was decided: the digest of the call is %s, not the one given. Look at it again with gatehouse "+
				"approvals show %s.", p.Call.Digest, f.ID)
	}
	click := core.Click{Approval: p.ID, Choice: choice, Reason: f.Reason, Edits: p.Edits()}
	d, err := approvals.NewService(store, store).AdminVote(ctx, click, f.As, systemUser())
	if err != nil {
		return unknownApproval(err, f.ID)
	}
	if p, err = store.RecordedApproval(ctx, d.Approval.ID); err != nil {
		return core.Wrap(core.CategoryOf(err), err, "The decision is stored. %s", core.MessageOf(err))
	}
	if f.JSON {
		return a.PrintJSON(viewApproval(p))
	}
	a.PrintLine("%s %s", p.StateSentence(), p.Call.Mask(p.Call.Summary))
	return nil
}

// systemUser is the user of the operating system who runs the program.
func systemUser() string {
	u, err := user.Current()
	if err != nil || u.Username == "" { // a container without a list of users
		return fmt.Sprintf("uid %d", os.Getuid())
	}
	return fmt.Sprintf("%s, uid %s", u.Username, u.Uid)
}

// disputed is the state that is printed of an approval which the audit log contradicts.
const disputed core.ApprovalState = "disputed"

// recorded returns an approval, and the intent of its call, as the audit log records them. One that the log contradicts
// is disputed: it has no more than what holds, and its summary says so.
func recorded(
	ctx context.Context, store *storage.Store, id core.ApprovalID,
) (core.Approval, *core.IntentRecord, error) {
	p, intent, err := store.Recorded(ctx, id)
	if errors.As(err, new(*audit.Contradiction)) {
		p.State, p.Call.Summary, err = disputed, core.MessageOf(err), nil
	}
	return p, intent, err
}

// votedOn returns the approval that an id, or the beginning of one, names. If there is none, or the audit log
// contradicts it, it has no more than the id: a vote on that is audited.
func votedOn(ctx context.Context, store *storage.Store, id string) (core.Approval, error) {
	whole, err := approvalID(ctx, store, id)
	if err != nil {
		return core.Approval{}, unknownApproval(err, id)
	}
	p, err := store.RecordedApproval(ctx, whole)
	if core.CategoryOf(err) == core.NotFound || errors.As(err, new(*audit.Contradiction)) {
		return core.Approval{ID: whole}, nil
	}
	return p, err
}

// unknownApproval names the approval in an error of category not_found.
func unknownApproval(err error, id string) error {
	if core.CategoryOf(err) == core.NotFound {
		return core.Errorf(core.NotFound, "There is no approval %q. List approvals with gatehouse approvals list.", id)
	}
	return err
}
