package core

import "time"

// PostKind says what a post is; the adapter draws each in its own way.
type PostKind string

// The kinds of posts.
const (
	PostReply   PostKind = "reply"   // the agent's text
	PostError   PostKind = "error"   // one of the three buckets' replies
	PostCard    PostKind = "card"    // an approval, drawn from its state when it is sent
	PostNotice  PostKind = "notice"  // a sentence of gatehouse itself
	PostPrivate PostKind = "private" // the same, for one person's eyes where the platform can
	PostWorking PostKind = "working" // the working state: shown while On, else cleared
	PostSteps   PostKind = "steps"   // the tools that a turn has used so far, in one line that is redrawn
)

// Post is a message to deliver, as plain data. Key is unique in the outbox: a second post of the same key changes the first (its wanted
// version rises) instead of adding another.
type Post struct {
	Key          string         `json:"key"`
	To           Address        `json:"to"`
	Conversation ConversationID `json:"conversation"` // the conversation it belongs to
	Kind         PostKind       `json:"kind"`
	Text         string         `json:"text,omitempty"`
	Bucket       Bucket         `json:"bucket,omitempty"`
	Approval     ApprovalID     `json:"approval,omitempty"`
	Person       string         `json:"person,omitempty"`  // of a private post
	Event        int64          `json:"event,omitempty"`   // the event it answers
	On           bool           `json:"on,omitempty"`      // of a working state
	Copy         bool           `json:"copy,omitempty"`    // of a card: in another channel, for an approver who may not see the conversation
	Pressed      bool           `json:"pressed,omitempty"` // its button was pressed: it is drawn without
}

// Ref is a platform's name for what was posted. It is opaque.
type Ref string

// Part is one platform message of a post: long texts need several. InDoubt is set before a send and cleared by its answer, so
// after a crash it says that the part may already be there.
type Part struct {
	Ref     Ref       `json:"ref,omitempty"`
	InDoubt bool      `json:"in_doubt,omitempty"`
	More    bool      `json:"more,omitempty"`   // further parts follow
	Looks   int       `json:"looks,omitempty"`  // how often it could not be looked for
	Missed  int       `json:"missed,omitempty"` // how often it was looked for and not there
	SentAt  time.Time `json:"sent_at,omitzero"` // when the send that is in doubt began
}

// PressedCard is a card whose button was pressed: so it was sent, even if the answer to the send was lost.
type PressedCard struct {
	Approval ApprovalID
	Channel  string // that it is in
	Ref      Ref
}

// Matches reports whether it is the card of this row, and the row is still in doubt.
func (s PressedCard) Matches(row OutboxRow) bool {
	return row.To.Channel == s.Channel && len(row.Parts) == 1 && row.Parts[0].InDoubt && row.Parts[0].Ref == "" && row.Owner == ""
}

// RowState is where an outbox row stands.
type RowState string

// The states of a row. Unknown: a send's answer was lost and could not be found out; it is visible and not sent again. Dropped: it
// was dead or unknown, and an admin put it away.
const (
	RowWaiting RowState = "waiting"
	RowSent    RowState = "sent"
	RowUnknown RowState = "unknown"
	RowDead    RowState = "dead"
	RowDropped RowState = "dropped"
)

// GaveUp reports whether the row's delivery has ended without an arrival that is known.
func (r OutboxRow) GaveUp() bool {
	return r.State == RowDead || r.State == RowUnknown || r.State == RowDropped
}

// Delivered are the parts that are known to be there.
func (r OutboxRow) Delivered() []Part {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].InDoubt {
		return r.Parts[:n-1]
	}
	return r.Parts
}

// OutboxRow is a post on its way. Wanted is raised by whatever changes what it should show, Shown is the version that was last
// delivered.
type OutboxRow struct {
	Post
	Seq       int64
	Wanted    int
	Shown     int
	Parts     []Part
	State     RowState
	Attempts  int
	NextAt    time.Time
	Cause     string
	Owner     string // who is delivering it
	Fence     int64  // raised by each claim; an answer of an older claim changes nothing
	CreatedAt time.Time
	SentAt    time.Time
}

// PostRequest asks for at most Limit outbox rows to deliver: at most one a destination, in order.
type PostRequest struct {
	Owner  string
	Limit  int
	Lease  time.Duration
	Scopes []Scope
}

// Delivery is what an adapter draws: the post as it should stand now.
type Delivery struct {
	Post
	Card *Card // of a PostCard
	Late bool  // older than the freshness limit: mark it so
	Part int   // which part to send, from 0

	SentAt time.Time // of a part that is looked for: when its send began
}

// Card is an approval as people see it: a view, drawn from the stored state, secrets masked.
type Card struct {
	Approval  ApprovalID
	State     ApprovalState
	Tool      string
	Summary   string
	Arguments string // pretty JSON, complete, secrets masked
	Requester string
	Approvers []string
	DecidedBy string
	Reason    string
	Votes     int
	Quorum    int
	Risk      Risk
	Changed   string // the request was changed after it was asked: what it says now
	Deadline  time.Time
	DecidedAt time.Time
	CreatedAt time.Time

	Requested Actor   // who asked
	Decided   Actor   // who decided
	From      Address // the conversation
	Context   []Line  // of a copy: the last that was said there
}

// Line is something that was said, for people to read.
type Line struct {
	Role Role
	Text string
}
