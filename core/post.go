package core

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// PostKind is the kind of a post; each adapter draws it in its own way.
type PostKind string

// The kinds of posts.
const (
	PostReply    PostKind = "reply"    // the agent's text
	PostError    PostKind = "error"    // one of the three buckets' replies
	PostCard     PostKind = "card"     // an approval, drawn from its state when it is sent
	PostNotice   PostKind = "notice"   // a sentence from gatehouse itself
	PostPrivate  PostKind = "private"  // the same, visible to one person only if the platform supports it
	PostWorking  PostKind = "working"  // the working state: shown while On, otherwise cleared
	PostCallback PostKind = "callback" // to another agent: what became of the approval that it requested
	PostSteps    PostKind = "steps"    // the tools that a turn has used so far, in one line that is redrawn
	// nothing to say: a look whether a part that was sent again stands twice; see Twin
	PostTwin PostKind = "twin"
)

// Post is a message to deliver, as plain data. Key is unique in the outbox: a second post of the same key changes the
// first (and increments its wanted version) instead of adding another.
type Post struct {
	Key          string         `json:"key"`
	To           Address        `json:"to"`
	Conversation ConversationID `json:"conversation"` // the conversation it belongs to
	Kind         PostKind       `json:"kind"`
	Text         string         `json:"text,omitempty"`
	Bucket       Bucket         `json:"bucket,omitempty"`
	Approval     ApprovalID     `json:"approval,omitempty"` // of a card; of a resumed turn's post: what it waited for
	// of a private post; of a copy without a channel: it goes to their direct messages
	Person string `json:"person,omitempty"`
	Event  int64  `json:"event,omitempty"` // the event it answers
	On     bool   `json:"on,omitempty"`    // of a working state
	Copy   bool   `json:"copy,omitempty"`  // elsewhere: a card for an approver, others for who asked
	// of a copy: the key of the quiet card in whose place it notifies the approvers
	Instead string `json:"instead,omitempty"`
	Quiet   bool   `json:"quiet,omitempty"` // of a card: it notifies nobody, since its copies do
	// of a card: how many approvers should have got a copy as a direct message, and did not
	LeftOut int `json:"left_out,omitempty"`
	// of a card: the keys of copies that approvers did not get, a line each; to who draws it, they are among LeftOut
	Untold   string   `json:"untold,omitempty"`
	Occasion Occasion `json:"occasion,omitempty"` // of a card: why it is posted, if it is not the first
	Reminds  string   `json:"reminds,omitempty"`  // of a reminder: the key of the card that its place has already
	// of a card: the key of that of the first open request of the same call, in the same place
	Like string `json:"like,omitempty"`
	// of steps: the turn waits until then for a model whose vendor asked for it, as Text says
	Until   time.Time `json:"until,omitzero"`
	Pressed bool      `json:"pressed,omitempty"` // its button was pressed, or can't be: it is drawn without
	Twin    Twin      `json:"twin,omitzero"`     // of a PostTwin
}

// Twin is a part of a post that was sent again, because its first message could not be seen: that may become readable
// later, and then the part stands twice.
type Twin struct {
	Key    string    `json:"key"` // of the post
	Part   int       `json:"part,omitempty"`
	SentAt time.Time `json:"sent_at,omitzero"` // see Part
}

// InPlaceOf begins the key of the sentence that stands in place of a post that the platform refused for what it says.
const InPlaceOf = "refused/"

// KeyInPlace is the key of that sentence: all posts of an event have the same.
func (p Post) KeyInPlace() string { return InPlaceOf + strconv.FormatInt(p.Event, 10) }

// EachApprover ends the key of a copy without a person and without a channel: it is delivered as a copy for each
// approver of its platform.
const EachApprover = "each"

// ForEach reports whether the post is a card that stands for a copy for each approver of its platform.
func (p Post) ForEach() bool {
	return p.Kind == PostCard && p.Copy && strings.HasSuffix(p.Key, "/"+EachApprover)
}

// Occasion is why a card is posted once more while its approval is open.
type Occasion string

// The occasions.
const (
	Reminder  Occasion = "reminder"
	Escalated Occasion = "escalated" // further people may decide now
	Typed     Occasion = "typed"     // somebody wrote a word of a decision, which decides nothing
)

// Ref is a platform's reference to a posted message. It is opaque.
type Ref string

// Part is one platform message of a post: long texts need several. InDoubt is set before a send and cleared by its
// response: after a crash it means that the part may already be there.
type Part struct {
	Ref     Ref  `json:"ref,omitempty"`
	InDoubt bool `json:"in_doubt,omitempty"`
	More    bool `json:"more,omitempty"`   // further parts follow
	Looks   int  `json:"looks,omitempty"`  // how often Find failed
	Missed  int  `json:"missed,omitempty"` // how often Find did not find it
	Again   int  `json:"again,omitempty"`  // of a card: how often its message was deleted, and it was posted anew
	// of a part in doubt: those that follow it may have been sent, too
	Rest bool `json:"rest,omitempty"`
	// when the send that is in doubt began, or a little before, by the platform's clock; zero: not known
	SentAt time.Time `json:"sent_after,omitzero"`
	// when that send had certainly ended, by the same clock; zero: not known
	LostAt time.Time `json:"lost_at,omitzero"`
	// when a look-up first showed neither the part nor anything newer, by the platform's clock if it has one, else by
	// the database's
	ReadAt time.Time `json:"read_at,omitzero"`
}

// PressedCard is a card whose button was pressed, which proves that it was sent even if the response to the send was
// lost.
type PressedCard struct {
	Approval ApprovalID
	Channel  string // that the card is in
	Ref      Ref
}

// Matches reports whether this is the card of the row, and the row is still in doubt.
func (s PressedCard) Matches(row OutboxRow) bool {
	return row.To.Channel == s.Channel && len(row.Parts) == 1 && row.Parts[0].InDoubt && row.Parts[0].Ref == "" &&
		row.Owner == ""
}

// RowState is the state of an outbox row.
type RowState string

// The states of a row. Unknown: the response to a send was lost, and the post could not be found; it is listed and not
// sent again. Dropped: it was dead or unknown, and an admin discarded it.
const (
	RowWaiting RowState = "waiting"
	RowSent    RowState = "sent"
	RowUnknown RowState = "unknown"
	RowDead    RowState = "dead"
	RowDropped RowState = "dropped"
)

// GaveUp reports whether the row's delivery has ended without a confirmed arrival.
func (r OutboxRow) GaveUp() bool {
	return r.State == RowDead || r.State == RowUnknown || r.State == RowDropped
}

// Delivered are the parts that are known to have arrived.
func (r OutboxRow) Delivered() []Part {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].InDoubt {
		return r.Parts[:n-1]
	}
	return r.Parts
}

// OutboxRow is a post to be delivered. Wanted is incremented by each change of its content; Shown is the version that
// was last delivered.
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
	Owner     string // the process that delivers it
	Fence     int64  // incremented by each claim; a result of an older claim changes nothing
	CreatedAt time.Time
	SentAt    time.Time
	// Doubted says that the claim has also stored that the first part is in doubt, as is needed before it is sent;
	// Parts does not show it. It is cleared by the next SavePost or ReleasePost.
	Doubted bool
	Age     time.Duration // when it was claimed, by the clock of the database
	First   Ref           // when it was claimed: the card that it reminds of, or is like; "" if that has not arrived
}

// Fallback is how people are told of an open card if it, or a copy of it, does not arrive; or, by Copies alone, of
// another post.
type Fallback struct {
	Copies // added, unless their keys are known
	// the key of the card in the conversation, which is not quiet any more, says how many were left out, and is redrawn
	Asks   string
	Untold string // the key of a copy that an approver did not get: the card counts it once
	Notice *Post  // added, unless its key is known, if no copy instead of that card has arrived or has yet to be tried
}

// Copies are posts that go with a card.
type Copies struct {
	Posts   []Post
	LeftOut int // how many approvers get no direct message, though they should
}

// PostRequest requests at most Limit outbox rows to deliver: at most one for each destination, in order.
type PostRequest struct {
	Owner  string
	Limit  int
	SentAt time.Time // of first parts that are in doubt with the claim
	Scopes []Scope
}

// Delivery is a post to draw, in its current form.
type Delivery struct {
	Post
	Card *Card // of a PostCard
	Late bool  // older than the freshness limit: it is marked as late
	Part int   // which part to send, from 0

	Again int // of the part; see Part: a platform that refuses what it has sent before must not take it for that

	// First is the card that a reminder reminds of, or that a card is like: where the platform has links to messages,
	// the reminder is one line that links to it, and the other card names it with a link. "": that card has not
	// arrived.
	First Ref

	SentAt time.Time // for Find and Copies: see Part
	LostAt time.Time // for Find: see Part
}

// Mail is a post in a mailbox, from which a client fetches it: a platform without a connection to its clients stores
// its posts there, in a form of its own.
type Mail struct {
	Mailbox ConversationID
	Key     string // the post's; unique in the mailbox
	// Seq follows the order of commits within a mailbox. A mail that is changed gets a new one, the largest of the
	// mailbox.
	Seq     int64
	Event   int64           // the event it answers; 0: none
	Content json.RawMessage // the adapter's own form
	At      time.Time       // when it was first stored
	Taken   int64           // the event whose answer gave it out; 0: none has

	// Opens is of what a person wrote: it makes the mailbox a conversation in that person's list. It is not read back.
	Opens *Opening
}

// Opening is who began a conversation, and what it is called until they rename it.
type Opening struct {
	Person string // the actor's id
	Title  string
}

// MailFilter selects mail of a mailbox.
type MailFilter struct {
	Mailbox ConversationID
	After   int64   // only mail with a larger Seq
	Before  int64   // only mail with a smaller one; 0: all
	Key     string  // only this mail
	Events  []int64 // only what answers these events; nil: all
	Last    int     // only the newest so many
	Limit   int     // only the first so many of those; 0: all
	// of those, only the first (with Last: the newest) that begin within so many bytes of content; 0: all
	Bytes int64
}

// Mailboxes keeps the posts that clients fetch, until they are as old as the posts that are pruned.
type Mailboxes interface {
	// PutMail stores the mail and returns its Seq. If the key is known, the content is replaced under a new Seq, unless
	// it is equal: then nothing changes, and the old Seq is returned. Event, At and Taken are those of the first time.
	PutMail(ctx context.Context, m Mail) (seq int64, err error)
	// ListMail returns mail in the order of Seq.
	ListMail(ctx context.Context, f MailFilter) ([]Mail, error)
	// TakeMail marks the mail that answers these events (nil: all mail) as taken by the event by, unless another has
	// taken it, and returns all mail that by has taken, in the order of Seq. So it may be repeated, and no mail is
	// taken by two events. Of all mail it takes the oldest, up to 4 MiB, and what answers by; others get the rest.
	TakeMail(ctx context.Context, mailbox ConversationID, by int64, events []int64) ([]Mail, error)
}

// Conversation is a mailbox as a person's list has it.
type Conversation struct {
	ID        ConversationID
	Title     string    // "": it was deleted
	Last      int64     // the largest Seq of its mail
	ChangedAt time.Time // when its mail or its title changed last, which is what lists are ordered by
	SaidAt    time.Time // when its newest mail was put there, whatever it was called since
	Waits     bool      // an approval of it is open
}

// ConversationFilter selects conversations of one person, those that changed last first.
type ConversationFilter struct {
	Person string
	ID     ConversationID // only this one; "": all
	Search string         // only those with this in their title, in capitals or not
	Before *Conversation  // only those that come after this one
	Since  time.Time      // only those that changed later, deleted ones too; zero: all but the deleted ones
	Limit  int            // 0: all
}

// Conversations are what people have in their mailboxes. A person who names another's gets the same answer as for one
// that does not exist: not_found.
type Conversations interface {
	ListConversations(ctx context.Context, f ConversationFilter) ([]Conversation, error)
	// RenameConversation gives a title of at least one character.
	RenameConversation(ctx context.Context, person string, id ConversationID, title string) error
	// DeleteConversation removes all that was said in a conversation, in one transaction: its sessions as DeleteSession
	// does, and its mail. The audit log stays, and so does the place in the mailbox: what is said there later begins
	// the conversation anew. It is invalid while an approval is open, a turn runs or a message waits.
	DeleteConversation(ctx context.Context, person string, id ConversationID) error
}
