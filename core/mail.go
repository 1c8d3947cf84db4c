package core

import (
	"context"
	"encoding/json"
	"time"
)

// Mail is a post in a mailbox, from which a client fetches it: a platform without a connection to its clients stores its posts there, in
// a form of its own.
type Mail struct {
	Mailbox ConversationID
	Key     string // the post's; unique in the mailbox
	// Seq follows the order of commits within a mailbox. A mail that is changed gets a new one, the largest of the mailbox.
	Seq     int64
	Event   int64           // the event it answers; 0: none
	Content json.RawMessage // the adapter's own form
	At      time.Time       // when it was first stored
	Taken   int64           // the event whose answer gave it out; 0: none has
}

// MailFilter selects mail of a mailbox.
type MailFilter struct {
	Mailbox ConversationID
	After   int64   // only mail with a larger Seq
	Key     string  // only this mail
	Events  []int64 // only what answers these events; nil: all
	Last    int     // only the newest so many
	Limit   int     // only the first so many of those; 0: all
}

// Mailboxes keeps the posts that clients fetch, until they are as old as the posts that are pruned.
type Mailboxes interface {
	// PutMail stores the mail and returns its Seq. If the key is known, the content is replaced under a new Seq, unless it is equal: then
	// nothing changes, and the old Seq is returned. Event, At and Taken are those of the first time.
	PutMail(ctx context.Context, m Mail) (seq int64, err error)
	// ListMail returns mail in the order of Seq.
	ListMail(ctx context.Context, f MailFilter) ([]Mail, error)
	// TakeMail marks the mail that answers these events (nil: all mail) as taken by the event by, unless another has taken it, and
	// returns all mail that by has taken, in the order of Seq. So it may be repeated, and no mail is taken by two events.
	TakeMail(ctx context.Context, mailbox ConversationID, by int64, events []int64) ([]Mail, error)
}
