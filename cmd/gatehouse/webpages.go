package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/web"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

// newHTTPEngine makes the OpenHarness engine. It always runs: without GATEHOUSE_TOKENS it serves this machine alone.
func newHTTPEngine(p shared, owner string, gate *access.Gate) (core.Platform, error) {
	c := openharness.Config{Options: openharness.Options{
		Gate:       gate,
		Store:      recordedStore{p.store},
		Rate:       p.cfg.Rate,
		MaxMessage: int(p.cfg.MaxMessage),
		Blobs:      p.store,
		Approvals:  adminViews{p.store, p.cfg},
		Live:       p.live,
	}}
	return c.Open(p.deps(owner))
}

// recordedStore gives of an approval what the audit log does not contradict.
type recordedStore struct{ *storage.Store }

// LoadApproval returns what holds of an approval.
func (s recordedStore) LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	a, _, err := s.Recorded(ctx, id)
	if errors.As(err, new(*audit.Contradiction)) {
		err = nil
	}
	return a, err
}

// newPages makes the web pages, which decide through the same service as every platform.
func newPages(p shared, gate *access.Gate, turns web.Turns) *web.Web {
	all := webApprovals{p.store, p.service}
	return web.New(web.Options{
		Gate:      gate,
		Approvals: all,
		Secrets:   all,
		Views:     adminViews{p.store, p.cfg},
		Platforms: p.cfg.Platforms(),
		Turns:     turns,
		Note:      keyNote(p.store),
		Words:     p.cfg.Words,
		Now:       time.Now,
		Log:       p.log,

		Conversations: p.store,
		Greeting:      p.cfg.Greeting,
	})
}

// adminViews are the store as admins see it on the pages.
type adminViews struct {
	*storage.Store
	cfg settings.Config
}

// IsAdmin reports whether a person may see all sessions and queues: the local person, or who may approve by default.
func (v adminViews) IsAdmin(who core.Actor) bool {
	return who.Local || slices.Contains(v.cfg.Policy.Approvers(), who.ID)
}

// webApprovals are the approvals as the pages need them.
type webApprovals struct {
	store *storage.Store
	*approvals.Service
}

// List returns the approvals that match the filter, the latest first.
func (w webApprovals) List(ctx context.Context, f core.ApprovalFilter) ([]core.Approval, error) {
	return w.store.ListApprovals(ctx, f)
}

// Count returns how many approvals match the filter.
func (w webApprovals) Count(ctx context.Context, f core.ApprovalFilter) (int, error) {
	return w.store.CountApprovals(ctx, f)
}

// AskAgain repeats the message whose approval expired.
func (w webApprovals) AskAgain(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Receipt, error) {
	return w.store.AskAgain(ctx, id, who)
}

// Reveal returns the arguments of an approval's call without masks, for a person who may decide about it; the audit log
// records that first.
func (w webApprovals) Reveal(ctx context.Context, id core.ApprovalID, who core.Actor) (string, error) {
	card, err := w.Card(ctx, id, false)
	if err == nil {
		err = card.Refusal(who)
	}
	if err != nil {
		return "", err
	}
	a, err := w.store.RevealApproval(ctx, id, who.ID, "on the page")
	return approvals.Unmasked(a), err
}

// newGate makes what says who sends an HTTP request.
func newGate(ctx context.Context, cfg settings.Config, store *storage.Store) (*access.Gate, error) {
	id, err := store.PutIfAbsent(ctx, "database", rand.Text())
	return access.New(access.Options{
		Tokens: cfg.Tokens, Metrics: cfg.Metrics, Signer: store.Signer(), Instance: id, Values: store, Now: time.Now,
		Site: cfg.Site,
	}), err
}

// announce logs where the web chat is, and for whom. webhooks: others are meant to reach the address too.
func announce(gate *access.Gate, socket net.Addr, webhooks bool, log *slog.Logger) {
	url := cmp.Or(gate.Address, "http://"+reachable(socket.String())) + "/"
	if gate.Open() && webhooks {
		log.Warn("events come over HTTP, and GATEHOUSE_TOKENS is not set: whoever comes through a proxy or tunnel " +
			"that adds no header, such as X-Forwarded-For, " +
			"counts as the person at this machine, who may chat and approve; set GATEHOUSE_TOKENS, or forward the " +
			"paths of the platforms only")
	}
	if at, err := netip.ParseAddrPort(socket.String()); gate.Open() && err == nil && !at.Addr().IsLoopback() {
		log.Warn("web chat: without GATEHOUSE_TOKENS it is for this machine alone, which in a container is the "+
			"container itself; to let anybody in, set GATEHOUSE_TOKENS and publish the port, as in: docker run "+
			"-p 8080:8080 -e "+
			"GATEHOUSE_TOKENS='you!=TOKEN' with a TOKEN of 16 characters or more, such as openssl rand -hex 16 prints",
			"listen", socket.String())
	}
	if gate.Open() {
		log.Info("web chat: open "+url+" in a browser on this machine; to let others in, set GATEHOUSE_TOKENS",
			"url", url)
		return
	}
	log.Info("web chat: "+url+", for those who have a token of GATEHOUSE_TOKENS", "url", url)
}
