package audit

import "gatehouse/core"

// Records is what the database says now of what the audit log has recorded, for a check of one against the other. Before and After
// are the head of the log, as read before and after everything else.
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
	Approval core.ApprovalID
	Digest   string
	Category core.Category // of its result
	Result   string        // ResultDigest of its content; "" = it was erased, or is empty
	NotRun   bool          // its turn ended without it
	Ended    bool
	Fault    error // its result can't be read
}
