package core

import (
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core/question"
)

// Card is the view of an approval that people get: made from the stored state, with secrets masked.
type Card struct {
	Approval  ApprovalID
	State     ApprovalState
	Tool      string
	Summary   string // one line, nothing invisible in it (see mask.EscapeLine)
	Arguments string // pretty JSON, complete, secrets masked, nothing invisible in it
	Said      bool   // Summary is the tool's own sentence, and says every argument as it is
	// the arguments that were asked for, likewise, if an approver has changed them; "" if they are not known
	Before string
	Asked  Asked // which message it is about; secrets masked
	// of a question: its texts, with secrets masked, and nothing invisible in them; nil: an approval
	Question  *question.Question
	Answer    string // of a question that was answered: for people, secrets masked, nothing invisible in it
	Hidden    int    // how many characters of the arguments are masked
	Altered   bool   // the stored call is not the one that was asked for: it can't be approved
	Requester string // the name, or the id
	Approvers []string
	Self      bool              // the requester may decide too, if they are an approver
	People    map[string]string // see Rule
	Voters    []Actor           // who has approved so far
	Quorum    int               // approvals needed, at least 1
	Against   []Actor           // who has denied so far
	Vetoes    int               // denials needed, at least 1
	NeedsWhy  bool              // a denial needs a reason
	Direct    bool              // every approver gets a copy as a direct message, also those who see the conversation
	DecidedBy string            // the name, or the id
	Reason    string
	Risk      Risk
	Changed   string // the new text of the request, if it was changed after it was made
	Editable  bool   // an approver may change the arguments
	Batch     bool   // its rule lets a page offer it to be decided together with others
	Edits     int    // how often an approver has changed the arguments
	Editor    Actor  // who did so last
	Deadline  time.Time
	DecidedAt time.Time
	CreatedAt time.Time

	// Same says that the person has asked for the same call before, and that is open, too; nil if they have not.
	// Refused says that the same call was denied here a short while ago; nil if it was not.
	Same    *Same
	Refused *Refused
	// LookAlikes are words of what will run that have letters of another alphabet which look like their others, each
	// with these letters' code points.
	LookAlikes []string

	// Memory is what an approver may allow besides the call itself or, of an approved card, has allowed; zero if
	// nothing, or no more. Use is which use of a remembered approval the call is; nil: of none. Until ends either.
	Memory Memory
	Use    *Use
	Until  time.Time

	Run     CallState // what became of the call; only of an approved one
	RunNote string    // why it failed, was not run, or is in doubt; one line, secrets masked
	RunAt   time.Time // when it began or, once it has ended, when it ended

	Requested Actor  // the requester
	Decided   Actor  // the approver who decided
	Context   []Line // of a copy: the last messages of the conversation

	Conversation ConversationID
	From         Address // where the conversation is
}

// Same is the place of a request among the open ones of the same call, by the same person in the same conversation.
type Same struct {
	N, Of int
	First ApprovalID // the earliest of them
	At    time.Time  // when that was asked for
}

// Refused is a denial.
type Refused struct {
	By     Actor
	At     time.Time
	Reason string // for people, secrets masked
}

// CallState is what became of an approved call.
type CallState string

// The states of an approved call. NotRun: the gate refused it, or its turn ended before. Unknown: it began, and nobody
// knows whether it took effect (law 5).
const (
	CallWaits   CallState = "" // it has not begun
	CallRunning CallState = "running"
	CallDone    CallState = "done"
	CallFailed  CallState = "failed"
	CallNotRun  CallState = "not_run"
	CallUnknown CallState = "unknown"
)

// RunText is what became of an approved call, in a few words and its note: "Running", "Failed: No space left." It is ""
// while the call waits.
func (c Card) RunText() string {
	switch c.Run {
	case CallRunning:
		return "Running"
	case CallDone:
		return "Done"
	case CallFailed:
		return noted("Failed", c.RunNote)
	case CallNotRun:
		return noted("Not run", c.RunNote)
	case CallUnknown:
		return "Outcome unknown"
	}
	return ""
}

func noted(what, note string) string {
	if note == "" {
		return what
	}
	return what + ": " + note
}

// Line is a message of a conversation, for people to read.
type Line struct {
	Role Role
	Text string
}

// Refusal is why this person may not decide the card, for the person to read; nil if they may. Category: not_allowed.
// The store decides by the same rule again.
func (c Card) Refusal(who Actor) error {
	return Approval{Question: c.Question, Rule: c.rule(), Requester: c.Requested}.refusal(who, c.CreatedAt)
}

func (c Card) rule() Rule { return Rule{Approvers: c.Approvers, Self: c.Self, People: c.People} }

// AskedBy reports whether this person requested the approval, from any of their accounts.
func (c Card) AskedBy(who Actor) bool {
	return Approval{Requester: c.Requested, Rule: c.rule()}.AskedBy(who)
}

// Check is why this person's press would not count, as far as an open card shows, for the person to read; nil if it
// would. The store decides by the same rules again.
func (c Card) Check(k Click, who Actor) error {
	a := Approval{State: Open, Question: c.Question, Rule: c.rule(), Requester: c.Requested}
	a.Rule.Quorum, a.Rule.Vetoes, a.Rule.Reason, a.Rule.Edit = c.Quorum, c.Vetoes, c.NeedsWhy, true
	a.Rule.Verdict, a.Rule.Remember, a.Rule.RememberUses = VerdictAsk, c.Memory.For, c.Memory.Uses
	a.Rule.RememberDangerous = true
	for range c.Edits {
		a.Votes = append(a.Votes, Vote{Choice: Edit})
	}
	for _, v := range c.Voters {
		a.Votes = append(a.Votes, Vote{Actor: v, Choice: Approve})
	}
	for _, v := range c.Against {
		a.Votes = append(a.Votes, Vote{Actor: v, Choice: Deny})
	}
	answer := json.RawMessage(k.Answer)
	if k.Option > 0 && c.Question != nil {
		answer, _ = c.Question.Option(k.Option)
	}
	_, err := a.Decide(Decision{
		Vote: &Vote{
			Actor: who, Choice: k.Choice, Reason: k.Reason, Edits: k.Edits, Remember: k.Remember, Answer: answer,
		},
		Altered: c.Altered && (k.Choice == Approve || k.Choice == Edit), Edit: &Call{},
	}, time.Time{})
	return err
}

// HasVoted reports whether a person's vote is already this choice.
func (c Card) HasVoted(who Actor, choice Choice) bool {
	voters := c.Voters
	if choice == Deny {
		voters = c.Against
	}
	return slices.ContainsFunc(voters, func(v Actor) bool { return c.rule().Person(v.ID) == c.rule().Person(who.ID) })
}

// Restored is Approval.Restored.
func (c Card) Restored() bool { return Approval{State: c.State, DecidedBy: c.Decided}.Restored() }
