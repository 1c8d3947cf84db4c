// Package approvals decides which mutating calls may run, and serves the people who approve them.
//
// The package policy checks a call before it runs and returns a Rule: refuse it, allow it, or ask certain people. The rule is stored with the
// approval, so that a decision is judged by the rule that applied when the approval was requested.
//
// Service opens approvals as data for the turn's Finish, which stores the paused invocation, the approval and its card in one
// transaction. It decides, expires and cancels them, each in one transaction of the store, which applies core's Approval.Decide to the
// stored approval. The first decision wins; everybody else gets a message. Service also makes cards from the stored state: the approval's
// and, once it is approved, its call's.
//
// VerifyLog checks the audit log: each entry's signature, and that it agrees with the approvals and intents in the database.
//
// What may arrive twice: a click (its event's vote is counted once), an expiry task, a command. A crash between the commit of a decision
// and the end of its click's event repeats the decision, with the same result.
//
// Decision, 2026-11: with GATEHOUSE_APPROVERS as a plain list, approvers may decide their own requests. The admin who writes the list
// trusts those people, and a team of one could not work otherwise. Rejected: to forbid it, because the list has no syntax to allow it. The
// rules of a policy file forbid it unless they say self: true.
package approvals
