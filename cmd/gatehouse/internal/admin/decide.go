package admin

import (
	"context"
	"fmt"
	"os"
	"os/user"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// decisionFlags are those of approve and deny.
type decisionFlags struct {
	cli.JSONFlag
	ID     string `arg:"" help:"The id of an approval, or the beginning or end of one id alone."`
	Reason string `placeholder:"R" help:"The reason, which the requester reads."`
	As     string `placeholder:"NAME" help:"${decision_as}"`
}

type approvalsApproveCmd struct {
	decisionFlags
	Digest string `placeholder:"SHA256" help:"${approvals_approve_digest}"`
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

// Edit is the command that changes the arguments of an open approval.
type Edit struct {
	cli.JSONFlag
	ID   string `arg:"" help:"The id of an approval, or the beginning or end of one id alone."`
	Args string `required:"" placeholder:"JSON" help:"${edit_args}"`
	As   string `placeholder:"NAME" help:"${edit_as}"`
}

// Run changes the arguments.
func (c Edit) Run(ctx context.Context, a *cli.App, agent Agent, store *storage.Store) error {
	p, err := votedOn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	editing, err := agent.Editing(store)
	if err != nil {
		return err
	}
	click := core.Click{Approval: p.ID, Choice: core.Edit, Changed: c.Args, Edits: p.Edits()}
	d, err := approvals.NewService(store, store).LetEdit(editing).AdminVote(ctx, click, c.As, systemUser())
	if err != nil {
		return unknownApproval(err, c.ID)
	}
	if c.JSON {
		return a.PrintJSON(viewApproval(d.Approval))
	}
	a.PrintLine("The arguments were changed. This is waiting for a decision now: %s",
		d.Approval.Call.Mask(d.Approval.Call.Summary))
	return nil
}
