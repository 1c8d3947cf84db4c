package admin

import (
	"context"
	"errors"
	"strings"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

// maxCandidates is how many approvals the error about an ambiguous prefix lists.
const maxCandidates = 10

// approvalID returns the id of the approval that id names: itself, or the beginning of one id alone. An ambiguous
// beginning is an error of category invalid that lists the candidates. Where nothing begins with id, id comes back as
// it is, and the store does not find it.
func approvalID(ctx context.Context, store *storage.Store, id string) (core.ApprovalID, error) {
	_, err := store.LoadApproval(ctx, core.ApprovalID(id))
	if id == "" || core.CategoryOf(err) != core.NotFound {
		return core.ApprovalID(id), err
	}
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{})
	if err != nil {
		return "", err
	}
	var found []core.Approval
	for _, a := range all {
		if strings.HasPrefix(string(a.ID), id) {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return core.ApprovalID(id), nil
	case 1:
		return found[0].ID, nil
	}
	lines := []string{}
	for i, a := range found {
		if i == maxCandidates {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, string(a.ID)+"  "+string(a.State)+"  "+a.Call.Mask(a.Call.Summary))
	}
	return "",
		core.Errorf(core.Invalid, "%d approvals begin with %q. Give more of the id:\n  %s", len(found), id,
			strings.Join(lines, "\n  "))
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
