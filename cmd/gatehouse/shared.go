package main

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/metrics"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/core/live"
	"gatehouse/storage"
)

// shared is what the parts of a process are made from. It has the one service that opens, draws and decides approvals:
// what one surface can do, all can.
type shared struct {
	cfg     settings.Config
	store   *storage.Store
	servers *mcpServers // whose tools the agent has
	policy  *policyWatch
	service *approvals.Service
	metrics *metrics.Metrics // which count the store's transactions, too; nil: the gateway makes them
	memory  *inflight.Budget // of requests and turns
	live    *live.Hub        // what running turns show
	log     *slog.Logger
}

// newShared makes them. Nothing runs yet.
func newShared(cfg settings.Config, store *storage.Store, log *slog.Logger) shared {
	p := shared{
		cfg:    cfg,
		store:  store,
		log:    log,
		memory: inflight.New(int64(cfg.TurnMemory)),
		live:   live.New(cfg.Streamed...),
	}
	p.servers = newServers(cfg, store, log)
	p.policy = newPolicyWatch(cfg, p.servers, log)
	p.service = approvals.NewService(store, store, cfg.Platforms()...).
		LetEdit(editing(cfg, store, p.servers)).
		LetAgentsAsk(foreign(cfg, store))
	return p
}

// deps are what a platform may use. owner is from Store.Register.
func (p shared) deps(owner string) core.Deps {
	return core.Deps{
		Owner:      owner,
		Heartbeat:  p.cfg.Heartbeat,
		Inbox:      p.store,
		Cards:      cards{p.service, p.store},
		Blobs:      p.store,
		KV:         p.store,
		Signer:     p.store.Signer(),
		Words:      p.cfg.Words,
		ReadBefore: p.cfg.ReadBefore,
		Jitter:     rand.Float64,
		Log:        p.log,
	}
}

// cards are made by the service, and drawn anew from the store's outbox.
type cards struct {
	*approvals.Service
	store *storage.Store
}

// RedrawCards makes all cards of an approval show its present state.
func (c cards) RedrawCards(ctx context.Context, id core.ApprovalID) error {
	return c.store.RedrawCards(ctx, id)
}

// mostOpen is how many requests of one agent may be open at a time.
const mostOpen = 500

// foreign lets other agents request approvals and ask questions, as today's policy says.
func foreign(cfg settings.Config, store *storage.Store) approvals.Agents {
	return approvals.Agents{Store: store, Policy: foreignPolicy{cfg.Policy}, MostOpen: mostOpen}
}

// foreignPolicy is the policy in force for other agents.
type foreignPolicy struct{ inForce *policy.Current }

// Rule asks the approvers in direct messages where no rule says where they are told: nobody could write that for the
// defaults.
func (p foreignPolicy) Rule(turn core.Turn, call core.Call) core.Rule {
	d := p.inForce.Policy().Decide(turn, call)
	if !d.Matched {
		d.Rule.Notify = []string{core.NotifyDM}
	}
	return d.Rule
}

// Asks is the policy's.
func (p foreignPolicy) Asks(turn core.Turn, call core.Call, of []string, expires time.Duration) core.Rule {
	return p.inForce.Asks(turn, call, of, expires, true)
}
