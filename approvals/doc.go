// Package approvals decides who may let a mutating call run, and keeps the desk where people decide.
//
// Policy looks at a call before it runs and gives a Rule: refuse, allow, or ask whom. The rule is stored with the approval, so
// that a decision is judged by the rule it was asked under.
//
// Desk opens approvals (as data for the turn's Finish: the paused invocation, the approval and its card are one transaction),
// decides, expires and cancels them (each one transaction of the store, which applies core's Approval.Decide to the stored
// approval: first wins, everything else gets a sentence), and draws cards from the stored state.
//
// What may come twice: a click (its event's vote is counted once), an expiry task, a CLI call. A crash between a decision's commit
// and the end of its click's event repeats the decision, which then answers as it did before.
//
// Decision, 2026-11: with GATEHOUSE_APPROVERS as a plain list, an approver may decide what they asked for themselves. Whoever
// writes the list trusts those people; a team of one could do nothing otherwise. Rejected: forbidding it, which the list form
// has no word to undo. A rule that forbids it belongs to the policy file.
package approvals
