package core

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// ConversationID names a conversation on a platform. It begins with the platform's name and a colon, as in
// "console:default"; the rest is the platform's own.
type ConversationID string

// QueueKey names a queue of events that are taken one at a time, in order; workers claim queues. Each conversation has
// a queue for its messages and signals and another for its controls; each approval has a queue for its clicks. See
// Event.QueueKey.
type QueueKey string

// Queue is the queue of the conversation's messages, resets and signals.
func (c ConversationID) Queue() QueueKey { return QueueKey(c) }

// SessionID names one conversation history: a conversation and its generation ("console:default@2"). The generation is
// read when a turn begins; "new conversation" increments it.
type SessionID string

// InvocationID names one run of a graph, from its message through all its suspensions to its end.
type InvocationID string

// SignalID is the correlation token of a pause: for an approval, the approval's id.
type SignalID string

// Session gives the conversation's session id in a generation; generations count from 1.
func (l ConversationID) Session(generation int) SessionID {
	return SessionID(string(l) + "@" + strconv.Itoa(generation))
}

// Conversation gives the conversation of a session id: all before its last '@'.
func (s SessionID) Conversation() ConversationID {
	if i := strings.LastIndexByte(string(s), '@'); i >= 0 {
		return ConversationID(s[:i])
	}
	return ConversationID(s)
}

// SessionRecord is what a session store keeps under a session id (sessions §5). State holds every stored field but the
// messages.
type SessionRecord struct {
	ID            SessionID
	SchemaVersion string
	State         map[string]json.RawMessage
	Messages      *History // nil: this graph keeps no messages
	Writer        Writer   // who appended Messages.Added(); set on save
	// of a load: how many messages of the writer's earlier attempt are stored; Messages is without them
	Earlier   int
	Version   int64 // counts saves; set by the store
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Writer defines the keys of new message rows: (session, invocation, n), n from From on. Rows of the same invocation
// from From on are replaced: they are an earlier attempt's.
type Writer struct {
	Invocation InvocationID
	From       int
}

// SessionSummary is a line of SessionStore.List: no state.
type SessionSummary struct {
	ID            SessionID
	SchemaVersion string
	Messages      int
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// SessionStanding is what there is of a session now.
type SessionStanding string

// The standings by which sessions are looked for. A session may have more than one.
const (
	SessionAsks   SessionStanding = "asks"   // an approval of it is open
	SessionRuns   SessionStanding = "runs"   // a turn of it has begun and not ended
	SessionFailed SessionStanding = "failed" // a turn of it was given up, and is a dead letter
)

// SessionFilter narrows List; the zero filter lists all.
type SessionFilter struct {
	UpdatedAfter  time.Time
	UpdatedBefore time.Time
	BeforeID      SessionID       // with UpdatedBefore: those of that very time, too, whose ids come before this one
	People        []string        // only those in which one of them has said or pressed something; nil = all
	Standing      SessionStanding // "" = any
	Platform      string          // that their ids begin with; "" = any
	CreatedAfter  time.Time
	SchemaVersion *string
	Limit         int // 0 = no limit
}

// SaveOptions are the options of a save.
type SaveOptions struct {
	ExpectedVersion *int64 // if not nil, a record of another version is session_write_conflict
	// a node's save in mid-invoke (sessions §6.2): it must commit now, whatever the turn's result is
	Explicit bool
}

// SessionStore is the spec's four operations (sessions §5), all that the engine needs of a store.
//
// Load returns nil, nil if there is no record. Save overwrites; of the messages it writes only Added. Delete succeeds
// if there is no record. No operation is retried by the engine.
type SessionStore interface {
	Load(ctx context.Context, id SessionID) (*SessionRecord, error)
	Save(ctx context.Context, rec *SessionRecord, opts SaveOptions) error
	Delete(ctx context.Context, id SessionID) error
	List(ctx context.Context, filter SessionFilter) ([]SessionSummary, error)
}

// Descriptor is what a node suspends with (suspension §4). Metadata is returned unchanged. With Approval, people or the
// policy decide about a call before the turn continues.
type Descriptor struct {
	SignalID SignalID         `json:"signal_id"`
	Metadata map[string]any   `json:"metadata,omitempty"`
	Approval *ApprovalRequest `json:"approval,omitempty"`
}

// Frame is one level of a paused graph: the outermost first, then the subgraph the pause is in, and so on.
type Frame struct {
	Node      string                     `json:"node"`      // the node of this level that the pause is at or in
	State     map[string]json.RawMessage `json:"state"`     // without the outermost messages of a sessioned invocation
	Completed []string                   `json:"completed"` // completed_positions of this level, in order
	// of the node, if a resume runs it again (attempt_index is unchanged)
	Attempt int `json:"attempt,omitempty"`

	// Of a level inside the outermost one, whose graph the record names: the subgraph, as the record names its own.
	Graph         string `json:"graph,omitempty"`
	GraphVersion  string `json:"graph_version,omitempty"`
	SchemaVersion string `json:"schema_version,omitempty"`
}

// PausedRecord is a suspended invocation (suspension §5). It names its graph and version: no other can resume it.
type PausedRecord struct {
	Invocation    InvocationID `json:"invocation_id"`
	Correlation   string       `json:"correlation_id"`
	Session       SessionID    `json:"session_id,omitempty"`
	Descriptor    Descriptor   `json:"descriptor"`
	Graph         string       `json:"graph"`
	GraphVersion  string       `json:"graph_version"`
	SchemaVersion string       `json:"schema_version"`
	Type          string       `json:"type"`   // "suspended"
	Frames        []Frame      `json:"frames"` // at least one
	MarkCompleted bool         `json:"mark_node_completed"`
	Step          int          `json:"step"`            // the engine's counter, which continues at a resume
	Trace         string       `json:"trace,omitempty"` // the span context of the segment that paused
	// rows this invocation has written to its session so far (Writer.From of the next segment)
	Messages int `json:"messages"`
}

// PauseStore keeps paused invocations.
//
// Pause stores the record and, if it is not nil, the session, together or not at all (suspension §8.6). Paused returns
// nil, nil if there is no such record: never stored, resumed, or withdrawn. BySignal does the same by the pause's
// signal. Consume removes the record and reports whether this call did: a second resume finds nothing.
type PauseStore interface {
	Pause(ctx context.Context, rec *PausedRecord, session *SessionRecord) error
	Paused(ctx context.Context, id InvocationID) (*PausedRecord, error)
	BySignal(ctx context.Context, id SignalID) (*PausedRecord, error)
	Consume(ctx context.Context, id InvocationID) (bool, error)
}

// Pruning is how far a store has come in a round of removing old sessions, one short transaction a call. The zero
// Pruning begins a round, and is returned when one has ended. It may be lost: the next round begins anew.
type Pruning struct {
	Stage  PruneStage
	At     time.Time // of what was looked at last, as Person and Key
	Person string
	Key    string
}

// PruneStage is what a round of pruning looks at.
type PruneStage int

// The stages of a round, in order.
const (
	PruneDone          PruneStage = iota
	PruneSessions                 // sessions, by their last change
	PruneConversations            // what is in somebody's list and has no session
	PruneQueues                   // conversations of which nothing is left
	PruneSpace                    // the database's file
)
