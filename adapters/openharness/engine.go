package openharness

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/openharness/internal/waiting"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/live"
)

// Name is the platform's name.
const Name = access.Platform

var (
	_ core.Platform = (*Engine)(nil)
	_ core.Health   = (*Engine)(nil)

	_ core.OldClicks = (*Engine)(nil)
)

// Store is what the engine needs of the store besides Accept.
type Store interface {
	core.Mailboxes
	Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)
	ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, n int) ([]core.OutboxRow,
		error)
	LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error)
	ListConversations(ctx context.Context, f core.ConversationFilter) ([]core.Conversation, error)
}

// Blobs keep the bytes of uploads.
type Blobs interface {
	PutBlobFor(ctx context.Context, e core.Event, data []byte, lifetime time.Duration) (digest string, err error)
	KeepBlob(ctx context.Context, e core.Event, digest string, lifetime time.Duration) (known bool, err error)
	LoadBlob(ctx context.Context, digest string) ([]byte, error)
}

// Options configure an engine. Gate, Store, KV, Blobs, Signer and Cards are required.
type Options struct {
	Gate       *access.Gate
	Store      Store
	KV         core.KV
	Blobs      Blobs
	Signer     *core.Signer
	Cards      desk.Cards
	Approvals  waiting.Store // nil: streams don't tell how many approvals wait
	Rate       int           // messages a minute and principal; 0 = no limit
	MaxMessage int           // bytes of a user_intent; 0 = 1 MiB
	Wait       time.Duration // how long a request waits for its turn at most; 0 = 25 seconds
	Now        func() time.Time
	Log        *slog.Logger
	Live       *live.Hub         // what running turns say; nil: there are no deltas
	Words      map[string]string // in place of built-in texts of cards, by their keys
}

// Engine is a Harness Engine. It is made by New.
type Engine struct {
	Options
	desk     desk.Desk
	watchers watchers
	limits   limits
	waiting  *waiting.Desk // nil without Options.Approvals
	ended    chan struct{} // closed when Run ends: streams end, requests stop waiting
}

// New makes an engine.
func New(o Options) *Engine {
	if o.Wait <= 0 || o.Wait > maxWait {
		o.Wait = maxWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxMessage, o.Log = cmp.Or(o.MaxMessage, 1<<20), cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	at := desk.Desk{
		Platform: Name, Signer: o.Signer, Cards: o.Cards, Strict: true, Texts: wording.New(o.Words), Log: o.Log,
	}
	e := &Engine{Options: o, desk: at, limits: newLimits(o.Rate), ended: make(chan struct{})}
	if o.Approvals != nil {
		e.waiting = waiting.New(o.Approvals, o.Now, o.Log)
	}
	return e
}

// Name is "openharness".
func (e *Engine) Name() string { return Name }

// Run watches the approvals until the end of ctx: requests come through Routes. Then streams end, and requests that
// wait for a turn are answered that it still runs. It may be called once.
func (e *Engine) Run(ctx context.Context, _ core.Accept) error {
	if e.waiting != nil {
		e.waiting.Run(ctx)
	}
	<-ctx.Done()
	close(e.ended)
	return nil
}

// Health is always good: the endpoint is part of the HTTP server, and a mailbox is part of the database.
func (e *Engine) Health() (inbound, outbound error) { return nil, nil }

// Clock is not known.
func (e *Engine) Clock() (now time.Time, ahead time.Duration, off error) { return now, 0, nil }

// The paths of the endpoint. The protocol names none; these are what its documents use.
const (
	Path       = "/v1/openharness"
	Alias      = "/openharness"
	EventsPath = "/v1/openharness/events"
)

// Routes returns the handlers of the endpoint and its alias, of the events and of uploads, for every method: a wrong
// one is refused with an envelope, and so is an address below them that is nothing.
func (e *Engine) Routes(accept core.Accept) map[string]http.Handler {
	messages := e.handler(http.MethodPost, accept, (*call).message)
	elsewhere := http.HandlerFunc(e.elsewhere)
	return map[string]http.Handler{
		Path: messages, Alias: messages,
		EventsPath:      e.handler(http.MethodGet, accept, (*call).stream),
		AttachmentsPath: e.handler(http.MethodPost, accept, (*call).attach),
		Path + "/":      elsewhere, Alias + "/": elsewhere,
	}
}
