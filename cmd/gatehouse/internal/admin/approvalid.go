package admin

import (
	"cmp"
	"context"
	"errors"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

// approvalID returns the id of the approval that id names: itself, or the beginning or end of one id alone. A part that
// is ambiguous or too short is an error of category invalid; of an ambiguous one it lists the candidates. Where it is
// part of no id, it comes back as it is, and the store does not find it.
func approvalID(ctx context.Context, store *storage.Store, id string) (core.ApprovalID, error) {
	_, err := store.LoadApproval(ctx, core.ApprovalID(id))
	if id == "" || core.CategoryOf(err) != core.NotFound {
		return core.ApprovalID(id), err
	}
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{})
	if err != nil {
		return "", err
	}
	one, err := theOne("approval", id, cli.List(all, func(a core.Approval) named {
		return named{string(a.ID), string(a.State) + "  " + a.Call.Mask(a.Call.Summary)}
	}))
	return core.ApprovalID(cmp.Or(one, id)), err
}

// votedOn returns the approval that an id, or a part of one, names. If there is none, or the audit log
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
