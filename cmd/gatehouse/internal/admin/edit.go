package admin

import (
	"context"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// Edit is the command that changes the arguments of an open approval. Editing is what the service needs for that.
type Edit struct {
	cli.JSONFlag
	ID   string `arg:"" help:"The id of an approval, or the beginning of one id alone."`
	Args string `required:"" placeholder:"JSON" help:"The arguments that take the place of the present ones: a JSON object."`
	As   string `placeholder:"NAME" help:"The name that people read; the audit log records the local admin, with this name and the user of the operating system."`

	Editing func(store *storage.Store) (approvals.Editing, error) `kong:"-"`
}

// Run changes the arguments.
func (c Edit) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	p, err := votedOn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	editing, err := c.Editing(store)
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
