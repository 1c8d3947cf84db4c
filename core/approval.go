package core

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// ApprovalID names an approval; it is also the signal id of its pause and the key of its call's intent and result.
type ApprovalID string

// ApprovalState is the state of an approval. Open is the only state that can change, once.
type ApprovalState string

// The states. Denial, timeout and cancellation differ (law 7).
const (
	Open      ApprovalState = "open"
	Approved  ApprovalState = "approved"
	Denied    ApprovalState = "denied"
	Expired   ApprovalState = "expired"
	Cancelled ApprovalState = "cancelled"
	Answered  ApprovalState = "answered" // of a question
)

// Choice is the decision that a click makes.
type Choice string

// The choices.
const (
	Approve Choice = "approve"
	Deny    Choice = "deny"

	Withdraw Choice = "withdraw" // no vote: the request is cancelled by who asked
	// no vote: an approver changes the arguments, if the rule allows it; earlier approvals do not count any more
	Edit   Choice = "edit"
	Answer Choice = "answer" // of a question: the first one counts
	Forget Choice = "forget" // of what is approved and remembered: no further call is allowed by it
)

// Call is the tool call that an approval is bound to.
type Call struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"` // the model's; not unique
	Arguments json.RawMessage `json:"arguments"`
	// JSON pointers to the arguments that the tool's schema says are secret
	Secret  []string `json:"secret,omitempty"`
	Digest  string   `json:"digest"`  // of tool and arguments, canonical: what the executor compares
	Summary string   `json:"summary"` // the tool's sentence for the approver
	// the sentence is of the tool's own template, and says every argument as it is
	Said  bool    `json:"said,omitempty"`
	Risk  Risk    `json:"risk,omitempty"`
	Bound Binding `json:"bound,omitzero"`

	Annotations Annotations `json:"annotations,omitzero"`
}

// Annotations are what the server of a foreign tool says of its calls: hints, which count for a rule of the policy that
// asks for them, and nowhere else. The zero value says nothing good of a call.
type Annotations struct {
	ReadOnly   bool `json:"read_only,omitempty"`  // it changes nothing
	Additive   bool `json:"additive,omitempty"`   // it destroys nothing
	Idempotent bool `json:"idempotent,omitempty"` // a second one changes nothing more
}

// Masked returns the arguments for those who decide, with their secrets hidden: those of mask.Shown, and those in
// Secret.
func (c Call) Masked() json.RawMessage { return mask.Shown(c.Arguments, c.Secret...) }

// Hidden returns how many characters Masked hides.
func (c Call) Hidden() int { return mask.Hidden(c.Arguments, c.Secret...) }

// Read reads the arguments once for what Masked, Hidden and Mask return.
func (c Call) Read() mask.Reading { return mask.Read(c.Arguments, c.Secret...) }

// Mask hides in a text about the call, for those who decide, secrets by their form, and the arguments that Masked hides
// whole; see mask.About.
func (c Call) Mask(text string) string { return mask.About(text, c.Arguments, c.Secret...) }

// Risk is how much care an approval needs.
type Risk string

// The risks.
const (
	ReadOnly  Risk = "read"      // it changes nothing
	Ordinary  Risk = ""          // it changes something
	Dangerous Risk = "dangerous" // hard or impossible to undo: the approver is asked twice
)

// Binding is the state that an approval was requested in: digests that the executor's gate compares with those of the
// moment when the call is to run.
type Binding struct {
	Schema   string `json:"schema"`    // of the tool's arguments
	CallSpec string `json:"call_spec"` // of what the turn is bound to
	Policy   string `json:"policy"`    // of the rules that matched the turn's mutating calls so far
	Witness  string `json:"witness"`   // of the join check over all that the turn had done before
}

// Asked is what an approval was requested for, beside the call: who reads the card knows which message it is about, and
// what else that message asks for.
type Asked struct {
	Message string `json:"message,omitempty"` // the beginning of the message
	// the call's place among those of one answer of the model that need an approval, from 1
	Place int `json:"place,omitempty"`
	Of    int `json:"of,omitempty"` // how many these are
	// of a second request: who had changed the arguments of the first one; this one has them as they were
	Dropped string `json:"dropped,omitempty"`
}

// ApprovalRequest is what an agent suspends with when a call needs an approval: the call, and the rule that matches it.
// Of a call that asks people, it has the question, and the rule's approvers are those who may answer. Announced: the
// last pending message says no more than that an approval is needed, and what for. The approval's card says so too, and
// is posted instead.
type ApprovalRequest struct {
	Call      Call  `json:"call"`
	Rule      Rule  `json:"rule"`
	Asked     Asked `json:"asked,omitzero"`
	Announced bool  `json:"announced,omitempty"`
	Use       *Use  `json:"use,omitempty"` // of an allowed call: which approval allows it

	Question *question.Question `json:"question,omitempty"`
}

// Approval is a stored request for a decision or, with a Question, for an answer. Rule is a snapshot of the matching
// rule: it defines who may decide, whatever the current policy is.
type Approval struct {
	ID           ApprovalID
	Invocation   InvocationID
	Session      SessionID
	Conversation ConversationID // of the conversation: where the signal goes
	Address      Address        // of the conversation: where the card goes
	Call         Call
	Question     *question.Question // nil: an approval is requested
	External     *External          // nil: a turn waits for it
	Asked        Asked
	Requester    Actor
	Rule         Rule
	State        ApprovalState
	Reason       string // of a denial or cancellation
	DecidedBy    Actor
	DecidedAt    time.Time
	CreatedAt    time.Time
	Deadline     time.Time // zero: none
	Votes        []Vote
	Begun        bool   // the turn has begun to act on the decision: it can't be cancelled any more
	Changed      string // the new text of the request, if it was amended while this was open
	Requested    string // the digest of the call as it was asked for, if an approver has changed its arguments
	Use          *Use   // it is allowed by an earlier approval, which was remembered; nil: by nothing of the kind
}

// Alike reports whether another request is of the same call, by the same person. Questions are not alike.
func (a Approval) Alike(b Approval) bool {
	return a.Question == nil && b.Question == nil && a.Call.Tool == b.Call.Tool && a.Call.Digest == b.Call.Digest &&
		a.Rule.Person(a.Requester.ID) == a.Rule.Person(b.Requester.ID)
}

// erased takes the place of an erased text that can't be missing.
const erased = "(erased)"

// Erased returns the approval without the texts that are erased with its session, and without digests of them that
// anybody could compute: what short arguments they are of can be tried. The audit log has one that is made with a key.
func (a Approval) Erased() Approval {
	a.Call.Arguments, a.Call.Summary, a.Call.Digest = nil, erased, ""
	a.Asked.Message, a.Asked.Dropped, a.Reason, a.Changed = "", "", "", ""
	if a.Requested != "" {
		a.Requested = erased
	}
	if a.Question != nil {
		a.Question = &question.Question{Text: erased, Fields: []question.Field{{Kind: question.Text}}}
	}
	a.Votes = slices.Clone(a.Votes)
	for n := range a.Votes {
		a.Votes[n].Reason, a.Votes[n].Answer, a.Votes[n].Before = "", nil, nil
	}
	return a
}

// Vote is one person's decision, or the change of the arguments by an approver. A withdrawal is one only on its way to
// Decide, which stores no vote for it.
type Vote struct {
	Event  int64  `json:"event,omitempty"` // the click's
	Actor  Actor  `json:"actor"`
	Choice Choice `json:"choice"`
	Reason string `json:"reason,omitempty"`
	Edits  int    `json:"edits,omitempty"` // how often the arguments had been changed on the card that was voted on

	Remember bool `json:"remember,omitempty"` // of an approval: it allows the same call again; see Memory

	At time.Time `json:"at"`

	Answer json.RawMessage `json:"answer,omitempty"` // to a question
	Before json.RawMessage `json:"before,omitempty"` // of a change of the arguments: what they were
}

// Decision is a request to change an open approval. Exactly one of Vote, Expire, Cancel and Remind is set.
type Decision struct {
	Approval ApprovalID
	Event    int64 // the click's event: a repeat of it returns the first result again; 0 from the CLI
	Vote     *Vote // its At is set by the store
	// of an approving vote: the stored call is not the one that was asked for, so it is refused and audited as such
	Altered bool
	Edit    *Call  // of a vote whose choice is Edit: the call with the changed arguments
	Admin   bool   // the CLI's local-admin: may decide under any rule
	Detail  string // for the audit log: which account of the operating system the local-admin has
	// the name that the local-admin gave; the audit log keeps it with the reason, and it is erased with it
	As     string
	Expire bool // only if the deadline has passed and no click that was accepted before it still waits
	Cancel bool
	Remind Occasion // the posts are added, once, unless a later reminder is due, too
	Task   string   // of a reminder: the key of its task
	Posts  []Post   // of a reminder; posts with known keys are left as they are
	Reason string   // of a cancellation
	By     Actor    // of a cancellation, an expiry or a reminder
}

// Decided is the result of a Decision.
type Decided struct {
	Approval Approval
	Counted  bool // the vote, expiry or cancellation took effect
	Settled  bool // and the approval is no longer Open: the signal is stored
}

// ApprovalFilter narrows a listing; the zero filter lists all.
type ApprovalFilter struct {
	States       []ApprovalState
	Session      SessionID
	Conversation ConversationID
	Invocation   InvocationID
	Requester    string // the id of the actor
	Closed       bool   // those that are not open any more

	// Reader is the id of somebody who may see them at the moment At; see Approval.Readers. With it, States is Open
	// alone, or Closed is set. "": of all.
	Reader string
	At     time.Time

	// Decider is a person for whose decision they wait at the moment At or, with Others, do not, though they are open.
	// The zero Actor: whoever they wait for. With Others and a Reader, that is the same person.
	Decider Actor
	Others  bool

	// Words are in what is stored of them, whatever the case of their letters. They are lower case, and ASCII. It is a
	// first sieve: what is stored has more than people are shown.
	Words []string

	Before ApprovalID // those that were requested before this one; "": all
	Limit  int        // 0: none
}

// ApprovalChanges are the approvals that have changed since a place of the audit log: they were opened, voted on or
// decided, or their calls began or ended.
type ApprovalChanges struct {
	Place int64                   // the end of the log
	Of    map[ApprovalID][]string // the accounts of those who may see each
	Many  bool                    // there are more than are listed: anything may have changed
}

// External is what an approval has that another agent requested: no turn waits for it, so its decision adds no signal.
type External struct {
	// the digest of what was requested: a repetition under the same key must have the same
	Request  string `json:"request"`
	Callback string `json:"callback,omitempty"` // the URL that the decision is posted to; "" = none
}

// AgentRequest is what another agent asks people for: an approval of a call or, with a Question, an answer.
type AgentRequest struct {
	ID        ApprovalID // the same for each repetition
	Requester Actor      // the principal
	Call      Call       // the tool is external.PRINCIPAL.ACTION
	Question  *question.Question
	Of        []string      // of a question: whom; see the policy
	Expires   time.Duration // shortens the time that the policy gives; 0: it does not
	Before    string        // the digest as it was taken before 2026-12: a request that was stored then has it
	External
}

// Conversation is where an agent's requests belong, so that they are told apart from what its principal says elsewhere.
func (r AgentRequest) Conversation() ConversationID {
	return ConversationID("external:" + r.Requester.ID)
}

// UnknownOutcome is the error of a call that was started, and whose result was never recorded.
func UnknownOutcome(tool string) *Error {
	return Errorf(OutcomeUnknown,
		"The outcome of %s is unknown: it was started, but its result was not recorded. It will not run again, but "+
			"what it started may still be running. Please check whether it took effect.", tool)
}

// Intent records that a tool is about to run; it is committed before the tool runs.
type Intent struct {
	Approval   ApprovalID
	Invocation InvocationID
	Tool       string
	Digest     string
}

// ToolResult is the result of a tool call: content for the model, and a category if it failed.
type ToolResult struct {
	Content  string
	Category Category // "" = it succeeded

	// Whole is the digest of what the tool gave, as far as it was kept, if Content is a cut of it; "" = it is not.
	// Miscut: Content is not that cut. Neither is stored with an intent.
	Whole  string
	Miscut bool

	Images []Block // that the tool gave, stored; they are not stored with an intent either
}

// IsZero reports whether there is no result.
func (r ToolResult) IsZero() bool { return r.Content == "" && r.Category == "" }

// IntentRecord is an intent and, once it is known, its result. Fresh: this call of BeginIntent created it. Without
// BegunAt the call never ran and never will: the turn ended, for the reason in Result.
type IntentRecord struct {
	Intent
	Fresh  bool
	Result *ToolResult
	// Progress is what the tool needs to go on, where another process may do so; "": it may not, and without a result
	// the outcome is unknown.
	Progress string
	BegunAt  time.Time
	EndedAt  time.Time
}

// State is what became of the call of an approved approval, whose intent this is; nil: there is none.
func (i *IntentRecord) State() CallState {
	switch {
	case i == nil:
		return CallWaits
	case i.Result == nil:
		return CallRunning
	case i.BegunAt.IsZero():
		return CallNotRun
	case i.Result.Category == "":
		return CallDone
	case i.Result.Category == OutcomeUnknown:
		return CallUnknown
	}
	return CallFailed
}

// RestoredReason is the reason of what a restore has cancelled.
const RestoredReason = "restored from a backup; what became of it is unknown"

// BeforeRestore is the cause of a dead letter that had not ended when its database was copied.
const BeforeRestore = "from before the restore"

// RestoredBy is who cancels what a restore makes unknown.
var RestoredBy = Actor{ID: "restore", Name: "the restore"}

// Restored reports whether a restore has cancelled it: it may have been decided, and its call done.
func (a Approval) Restored() bool { return a.State == Cancelled && a.DecidedBy.ID == RestoredBy.ID }

// LostPost tells who sent an event that it is a dead letter of a restore; it has the button to try again.
func LostPost(e EventRecord) Post {
	return Post{
		Key: "error/" + strconv.FormatInt(e.Seq, 10), To: e.Address, Conversation: e.Conversation, Kind: PostError,
		Text: "gatehouse was restored from a backup that was made while this was in work. Whether it was " +
			"answered, or anything was done, is unknown here.",
		Bucket: SessionTerminating, Event: e.Seq,
	}
}
