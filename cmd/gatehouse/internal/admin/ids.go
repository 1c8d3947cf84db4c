package admin

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

const (
	maxCandidates = 10 // what the error about an ambiguous part of an id lists
	leastOfID     = 4  // characters of an id that name it
)

// named is something that has an id, with a few words about it.
type named struct{ id, about string }

// theOne returns the id that begins or ends with a part; "" if none does. A part that is ambiguous, or shorter than
// leastOfID, is an error of category invalid; of an ambiguous one it lists the candidates.
func theOne(noun, part string, all []named) (string, error) {
	var found []named
	for _, n := range all {
		if strings.HasPrefix(n.id, part) || strings.HasSuffix(n.id, part) {
			found = append(found, n)
		}
	}
	switch {
	case part == "" || len(found) == 0:
		return "", nil
	case len(found) == 1 && len(part) < leastOfID:
		return "", core.Errorf(core.Invalid, "%q is too short to name %s: give %d characters or more of its id.",
			part, withArticle(noun), leastOfID)
	case len(found) == 1:
		return found[0].id, nil
	}
	lines := []string{}
	for i, n := range found {
		if i == maxCandidates {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, strings.TrimRight(n.id+"  "+n.about, " "))
	}
	return "", core.Errorf(core.Invalid, "%s begin or end with %q. Give more of the id:\n  %s",
		count(len(found), noun), part, strings.Join(lines, "\n  "))
}

func withArticle(noun string) string {
	if strings.Contains("aeiou", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

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
