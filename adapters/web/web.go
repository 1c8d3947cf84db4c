package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/greeting"
	"gatehouse/core/keylock"
)

// Approvals lists approvals, draws their cards, and decides; see package approvals.
type Approvals interface {
	List(ctx context.Context, f core.ApprovalFilter) ([]core.Approval, error)
	// Count is how many match, whatever the filter's Before and Limit are.
	Count(ctx context.Context, f core.ApprovalFilter) (int, error)
	// Cards are those of the approvals that there are still, without context.
	Cards(ctx context.Context, ids []core.ApprovalID) ([]core.Card, error)
	// Card fails with not_found if there is none.
	Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
	// Vote decides for a person. Its errors have messages for that person.
	Vote(ctx context.Context, c core.Click, who core.Actor, event int64) (core.Decided, error)
	// CheckEdit is why arguments can't take the place of those of an approval's call, for the person who typed them.
	// core.ArgumentFaults are in the chain if it is single arguments.
	CheckEdit(ctx context.Context, id core.ApprovalID, arguments string) error
	// AskAgain repeats the message whose approval expired, for the person who asked. Its errors have messages for them.
	AskAgain(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Receipt, error)
}

// Views are what admins look at.
type Views interface {
	// IsAdmin says who sees all approvals, the sessions and the queue.
	IsAdmin(who core.Actor) bool
	Queue(ctx context.Context, n int) (core.QueueView, error)
	Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)
	ListSessions(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error)
	// HeldPosts are those that wait and whose last attempt failed.
	HeldPosts(ctx context.Context, n int) ([]core.OutboxRow, error)
	// ListPosts are up to n posts (0: all) in these states (nil: any) and this conversation ("": any), the latest
	// first.
	ListPosts(
		ctx context.Context, states []core.RowState, of core.ConversationID, n int,
	) ([]core.OutboxRow, error)
	// Retry and Resend try a dead turn and a dead post again; Drop and DropPost discard them.
	Retry(ctx context.Context, turn int64) (core.Receipt, error)
	Resend(ctx context.Context, post int64) error
	Drop(ctx context.Context, turn int64) error
	DropPost(ctx context.Context, post int64) error
}

// Secrets are what the cards of approvals mask.
type Secrets interface {
	// Reveal returns an approval's arguments without masks, for a person who may decide about it, and records that. Its
	// errors have messages for that person.
	Reveal(ctx context.Context, id core.ApprovalID, who core.Actor) (string, error)
}

// Turns go on after a decision. Nudge never blocks.
type Turns interface{ Nudge() }

// Options configure the pages. Gate, Approvals, Views and Conversations are required.
type Options struct {
	Gate      *access.Gate
	Approvals Approvals
	Views     Views
	Platforms core.Platforms    // whose conversations there may be
	Secrets   Secrets           // nil: what is masked stays so
	Turns     Turns             // nudged after a decision was stored; may be nil
	Now       func() time.Time  // nil: time.Now
	Note      string            // what decisions are not protected from, for their readers; "" = none
	Log       *slog.Logger      // nil: discard
	Words     map[string]string // in place of built-in texts of cards, by their keys

	Conversations core.Conversations
	Greeting      greeting.Greeting // of an empty conversation
}

// Web is the pages. Any number of goroutines may use it.
type Web struct {
	Options
	texts     *wording.Texts
	templates templates
	formTime  time.Duration
	lists     keylock.Locks[string] // by person; see request.list
}

// New makes the pages.
func New(o Options) *Web {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Web{Options: o, texts: wording.New(o.Words), formTime: formTime}
}

// Routes returns the handlers by their patterns of net/http's ServeMux.
func (w *Web) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /{$}":            w.page((*request).chat),
		"/login":              w.handler((*request).login),
		"/logout":             w.page((*request).logout, http.MethodPost),
		"/conversations":      w.page((*request).conversations, http.MethodGet, http.MethodPost),
		"/approvals":          w.page((*request).approvals, http.MethodGet, http.MethodHead, http.MethodPost),
		"/approvals/{id}":     w.page((*request).approval, http.MethodGet, http.MethodHead, http.MethodPost),
		"/sessions":           w.page((*request).sessions),
		"/queue":              w.page((*request).queue, http.MethodGet, http.MethodHead, http.MethodPost),
		"GET " + assetPattern: http.HandlerFunc(asset),
		"GET /favicon.svg":    atRoot("favicon.svg"),
		"GET /robots.txt":     atRoot("robots.txt"),
	}
}
