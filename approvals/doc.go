// Package approvals decides which mutating calls may run, and serves the people who approve them.
//
// The package policy checks a call before it runs and returns a Rule: refuse it, allow it, or ask certain people. The
// rule is stored with the approval, so that a decision is judged by the rule that applied when the approval was
// requested.
//
// Service opens approvals as data for the turn's Finish, which stores the paused invocation, the approval and its card
// in one transaction. It decides, expires and cancels them, each in one transaction of the store, which applies core's
// Approval.Decide to the stored approval. The first decision wins; everybody else gets a message. Service also makes
// cards from the stored state: the approval's and, once it is approved, its call's.
//
// Who decides: people, not accounts. Rule.People says which accounts are one person's; a person has one vote, which
// they may change while the approval is open. As many people's approvals as the quorum approve, as many denials as the
// vetoes deny.
//
// Who is told: posts.go. Reminders, the escalation and the deadline are tasks of the store (core's Approval.Tasks),
// added with the approval and removed with its decision. A reminder is a post under a key of its own, so that a task
// that runs twice posts nothing twice. It names the card that its place has already: a platform with links to messages
// then says one line, which links to that card; elsewhere it is the card once more, as it is for those to whom a
// request is escalated. To whom that is follows from the time alone; the task only tells them.
//
// Changed arguments: edit.go. A change is stored among the votes, and the approvals before it do not count any more. A
// card's buttons carry how often the arguments had been changed when it was drawn, so nobody approves what they have
// not seen.
//
// A remembered approval (core.Memory) allows the same call in its conversation, for anybody whose request the same
// people could approve. The call goes the same suspended way, with the policy as who decided, and has a card of its
// own.
//
// What came before a request in its conversation: before.go. Its card says so of open requests for the same call, and
// of a denial of it.
//
// VerifyLog checks the audit log: each entry's signature, and that it agrees with the approvals and intents in the
// database.
//
// What may arrive twice: a click (its event's vote is counted once), a task, a command. A crash between the commit of a
// decision and the end of its click's event repeats the decision, with the same result.
//
// Decision, 2026-11: with GATEHOUSE_APPROVERS as a plain list, approvers may decide their own requests. The admin who
// writes the list trusts those people, and a team of one could not work otherwise. Rejected: to forbid it, because the
// list has no syntax to allow it. The rules of a policy file forbid it unless they say self: true.
package approvals

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
