package admin

import (
	"context"
	"fmt"

	"gatehouse/core"
	"gatehouse/storage"
)

// sequel is how a suspended turn went on: its approval, and the turn that resumed it.
type sequel struct {
	Approval  core.ApprovalID    `json:"approval"`
	Decision  core.ApprovalState `json:"approval_state"`
	ResumedBy int64              `json:"resumed_by,omitempty"` // 0: not resumed, or not any more in the database
	State     string             `json:"resumed_state,omitempty"`
}

// text is the sequel in a few words.
func (s *sequel) text() string {
	switch {
	case s == nil:
		return ""
	case s.ResumedBy != 0:
		return fmt.Sprintf(", then %s and resumed by turn %d (%s)", s.Decision, s.ResumedBy, s.State)
	case s.Decision == core.Open:
		return fmt.Sprintf(", waits for approval %s", s.Approval)
	}
	return ", then " + string(s.Decision)
}

// sequelOf reads how a turn went on; nil if it is not suspended or its approval was pruned. A turn may be suspended
// several times: each time the next event of its invocation, a signal, names the approval.
func sequelOf(ctx context.Context, store *storage.Store, e core.EventRecord) (*sequel, error) {
	if e.End.Kind != core.EndSuspended {
		return nil, nil
	}
	events, err := store.Events(ctx, core.EventFilter{Invocation: e.Invocation}) // latest first
	if err != nil {
		return nil, err
	}
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{Invocation: e.Invocation}) // latest first
	if err != nil || len(all) == 0 {
		return nil, err
	}
	s := &sequel{Approval: all[0].ID}
	for _, other := range events {
		if other.Seq <= e.Seq {
			break
		}
		s.ResumedBy, s.State = other.Seq, turnState(other)
		s.Approval = core.ApprovalID(other.Subject())
	}
	a, _, err := recorded(ctx, store, s.Approval)
	if core.CategoryOf(err) == core.NotFound { // it was pruned
		return s, nil
	}
	s.Decision = a.State
	return s, err
}
