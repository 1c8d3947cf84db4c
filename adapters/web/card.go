package web

import (
	"fmt"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// card is an approval as its reader sees it. Its texts are those of core.Card: complete, with secrets masked and nothing invisible in them.
type card struct {
	ID           core.ApprovalID
	State        core.ApprovalState
	Dangerous    bool
	Headline     string
	Summary      string
	Tool         string
	Arguments    string
	Requester    string
	Asked        string // the message
	Changed      string
	Edited       string
	Dropped      string
	Cautions     []string
	Approvers    string // who may decide
	Votes        []string
	Created      moment
	Deadline     moment
	Standing     string // of one that is decided
	Decision     string // the same, in a table
	DecidedAt    moment
	Reason       string
	Run          string
	RunAt        moment
	Refusal      string // why the reader may not decide
	MayApprove   bool
	MayDeny      bool
	MayWithdraw  bool
	MayReveal    bool // some of the arguments are masked
	NeedsReview  bool // approving takes a second step
	NeedsReason  bool
	Edits        int
	Token        string              // of the form
	Conversation core.ConversationID // for admins
	Question     *asked              // of a question
	Answer       string
}

// see makes the reader's view of a card.
func (v *visit) see(c core.Card) card {
	view := card{
		ID: c.Approval, State: c.State, Dangerous: c.Risk == core.Dangerous, Headline: chat.Headline(c, ""), Summary: c.Summary, Tool: c.Tool, Arguments: c.Arguments,
		Requester: nameOf(c.Requested, c.Requester), Asked: c.Asked.Message, Changed: chat.Clean(c.Changed), Dropped: c.Asked.Dropped,
		Created: v.moment(c.CreatedAt), Edits: c.Edits, NeedsReason: c.NeedsWhy, NeedsReview: chat.NeedsReview(c),
	}
	if c.Question != nil {
		view.Tool, view.Arguments, view.NeedsReview = "", "", false
		view.Question, view.Summary, view.Answer = ask(c), headline(*c.Question), chat.Clean(c.Answer)
	}
	if c.Edits > 0 {
		view.Edited = nameOf(c.Editor, "")
	}
	if v.admin() {
		view.Conversation = c.Conversation
	}
	view.Token = v.Gate.FormToken(v.who, v.r)
	view.MayReveal = v.Reveal != nil && c.Hidden > 0 && c.Refusal(v.who.Actor) == nil
	if c.State != core.Open {
		view.Standing, view.DecidedAt, view.Reason = chat.Standing(c), v.moment(c.DecidedAt), chat.Clean(c.Reason)
		view.Decision = decision(c)
		view.Run, view.RunAt = runOf(c), v.moment(c.RunAt)
		return view
	}
	view.Deadline, view.Cautions = v.moment(c.Deadline), chat.Warnings(c)
	view.Approvers, view.Votes = approvers(c), votes(c)
	switch err := c.Refusal(v.who.Actor); {
	case err != nil:
		view.Refusal = core.MessageOf(err)
	case c.Question != nil:
		view.Question.Open = true
	default:
		view.MayApprove, view.MayDeny = !c.Altered && !c.HasVoted(v.who.Actor, core.Approve), !c.HasVoted(v.who.Actor, core.Deny)
	}
	view.MayWithdraw = c.AskedBy(v.who.Actor)
	return view
}

// maySee reports whether the reader may see a card at all.
func (v *visit) maySee(c core.Card) bool {
	return v.admin() || c.AskedBy(v.who.Actor) || c.Refusal(v.who.Actor) == nil
}

// votes say how far those who may decide have come, where it takes more than one.
func votes(c core.Card) (all []string) {
	if c.Quorum > 1 {
		all = append(all, fmt.Sprintf("%d of %d approvals%s", len(c.Voters), c.Quorum, by(c.Voters)))
	}
	if c.Vetoes > 1 {
		all = append(all, fmt.Sprintf("%d of %d denials%s", len(c.Against), c.Vetoes, by(c.Against)))
	}
	return all
}

func by(voters []core.Actor) string {
	if len(voters) == 0 {
		return ""
	}
	var names []string
	for _, who := range voters {
		names = append(names, nameOf(who, ""))
	}
	return ", by " + strings.Join(names, ", ")
}

// maxApprovers is how many of those who may decide are named.
const maxApprovers = 10

// approvers names those who may decide, as far as their names are known here.
func approvers(c core.Card) string {
	var names []string
	known := map[string]bool{}
	for _, id := range c.Approvers {
		name := approver(id)
		if !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	if more := len(names) - maxApprovers; more > 0 {
		names = append(names[:maxApprovers], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func approver(id string) string {
	name, here := strings.CutPrefix(id, access.Platform+":")
	switch {
	case name == core.LocalPerson:
		return chat.LocalApprover
	case here:
		return chat.Name(name)
	}
	return nameOf(core.Actor{ID: id}, "")
}

// nameOf is the name of a person, never their id on another platform.
func nameOf(who core.Actor, name string) string { return chat.PersonName(who, name, chat.Name) }

// decision is how an approval ended, and by whom.
func decision(c core.Card) string {
	word := map[core.ApprovalState]string{core.Approved: "Approved", core.Denied: "Denied", core.Expired: "Expired", core.Cancelled: "Cancelled", core.Answered: "Answered"}[c.State]
	if c.State == core.Expired || c.DecidedBy == "" && c.Decided.ID == "" {
		return word
	}
	return word + " by " + nameOf(c.Decided, c.DecidedBy)
}

// runOf is what became of an approved call.
func runOf(c core.Card) string {
	text := c.RunText()
	if c.State == core.Approved && c.Run == core.CallWaits {
		return "Waits to be run"
	}
	if c.Run == core.CallUnknown {
		text += ". It may have been done: check before you ask again."
	}
	return text
}

// said is what became of a decision of the reader, as it is stored.
func (v *visit) said(c core.Card) string {
	switch {
	case c.State != core.Open:
		return chat.Standing(c)
	case c.HasVoted(v.who.Actor, core.Approve):
		return fmt.Sprintf("Your approval is stored. It is number %d of the %d that are needed.", len(c.Voters), c.Quorum)
	case c.HasVoted(v.who.Actor, core.Deny):
		return fmt.Sprintf("Your denial is stored. It is number %d of the %d that are needed.", len(c.Against), c.Vetoes)
	}
	return ""
}
