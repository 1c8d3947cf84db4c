package core

import (
	"context"
	"log/slog"
	"time"
)

// Driver is a platform as a value: each platform's *Config is one. The list of drivers stands once, in the program;
// policy, settings and commands read it, and nothing else knows which platforms there are. A driver may also be a
// Doctor and a Manifest.
//
// Open makes the platform, which connects nothing before its Run. It makes what it needs besides Deps itself.
type Driver interface {
	Name() string  // what its ids begin with
	Title() string // its name for people
	IDs() IDs
	Settings() Settings // nil: it has none
	Configured() bool   // its settings switch it on
	Open(d Deps) (Platform, error)
}

// NoSettings is part of a driver without settings: none switches it on. A command may open it.
type NoSettings struct{}

// Settings are none.
func (NoSettings) Settings() Settings { return nil }

// Configured is false.
func (NoSettings) Configured() bool { return false }

// Open fails: there is nothing to open. Error: unsupported.
func (NoSettings) Open(Deps) (Platform, error) {
	return nil, Errorf(Unsupported, "This platform can't be opened.")
}

// Settings is a pointer to a struct whose fields are settings; package settings says with which tags. Validate returns
// all faults, one line each, beginning with the key.
type Settings interface{ Validate() []string }

// Deps are what a platform may use of the rest.
type Deps struct {
	Signer    *Signer // of buttons
	Cards     Cards
	Blobs     Blobs
	Inbox     Inbox            // nil: no event is stored
	KV        KV               // shared by the processes of one bot
	Owner     string           // this process's name, for heartbeats and leases
	Heartbeat time.Duration    // how soon other processes take over from one that died
	Jitter    func() float64   // of waits before another attempt, from 0 (half) to 1 (full)
	Now       func() time.Time // nil: time.Now
	// ReadBefore limits, in tokens, what is read of a thread in which the bot is asked; 0: nothing is.
	ReadBefore int
	Words      map[string]string // in place of built-in texts of cards, by their keys
	Log        *slog.Logger
}

// Cards are the cards of approvals.
//
// Card returns one, from its approval's stored state; with context it has the last messages of the conversation.
// OpenCards returns the open ones of a conversation, oldest first. RedrawCards makes all of an approval show its
// present state. CheckEdit is why arguments can't take the place of those of an approval's call, for the person who
// typed them; nil if they can, as far as can be told now.
type Cards interface {
	Card(ctx context.Context, id ApprovalID, context bool) (Card, error)
	OpenCards(ctx context.Context, conversation ConversationID) ([]Card, error)
	RedrawCards(ctx context.Context, id ApprovalID) error
	CheckEdit(ctx context.Context, id ApprovalID, arguments string) error
}

// Blobs keep the images that came with events, under the digest of their bytes.
type Blobs interface {
	PutBlob(ctx context.Context, e Event, data []byte) (digest string, err error)
}

// Inbox is the stored events. Events lists some, the latest first.
type Inbox interface {
	Events(ctx context.Context, f EventFilter) ([]EventRecord, error)
}

// Doctor is a Driver that can check its configuration by asking the platform. It changes nothing, there or here, and
// its checks have no secrets.
type Doctor interface {
	Check(ctx context.Context, c Checkup) []Check
}

// Checkup is what a Doctor may use of the rest.
type Checkup struct {
	Approvers []string // the ids of all approvers, those on other platforms among them
	Listen    string   // the address at which gatehouse listens for HTTP
	Quick     bool     // without checks that cost something
	Inbox     Inbox
	KV        KV               // as the platform's; nil, as Inbox: the database can't be used
	Now       func() time.Time // nil: time.Now
}

// Check is one line of the report of gatehouse doctor: what was found and, if something is wrong, how to mend it.
type Check struct {
	Name  string     `json:"name"`
	State CheckState `json:"state"`
	What  string     `json:"message"` // its further lines are a table
	Mend  string     `json:"mend"`
}

// CheckState is the outcome of a check.
type CheckState string

// The states of a check. A warning may be intended.
const (
	CheckOK   CheckState = "ok"
	CheckWarn CheckState = "warn"
	CheckFail CheckState = "fail"
)

// Manifest is a Driver that prints what its app needs on the platform. Manifest returns a pointer to a struct with one
// field, which is a command of gatehouse manifest: its tags and its flags are those of package kong, and its Run takes
// the io.Writer to print to.
type Manifest interface{ Manifest() any }

// CatchesUp is a Driver whose platform fetches what it missed while it was not connected. Skip makes it not fetch what
// was sent before a moment; kv is its Deps.KV. It may be repeated, and no process of the platform runs meanwhile.
type CatchesUp interface {
	Skip(ctx context.Context, kv KV, before time.Time) error
}
