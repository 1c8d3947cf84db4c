package audit

import (
	"time"

	"gatehouse/core"
)

// Records is what the database says now of what the audit log has recorded, for a check of one against the other.
// Before and After are the head of the log, as read before and after everything else.
type Records struct {
	Before, After Head
	Approvals     []Approval
	Intents       []Intent
}

// Approval is what the log must say of an approval. The arguments of its call are empty once they were erased.
type Approval struct {
	core.Approval
	Fault error // part of it can't be read, and is empty
}

// Intent is what the log must say of an intent.
type Intent struct {
	core.Intent
	BegunAt  time.Time // zero: its turn ended without it
	EndedAt  time.Time
	Category core.Category // of its result
	Result   string        // ResultDigest of its content; "" = it was erased, or is empty
	Fault    error         // its result can't be read
}

// IntentOf returns what the log must say of a record.
func IntentOf(r core.IntentRecord) Intent {
	i := Intent{Intent: r.Intent, BegunAt: r.BegunAt, EndedAt: r.EndedAt}
	if r.Result != nil {
		i.Category, i.Result = r.Result.Category, ResultDigest(r.Result.Content)
	}
	return i
}
