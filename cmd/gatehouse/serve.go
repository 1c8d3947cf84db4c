package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/backup"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/connections"
	"gatehouse/cmd/gatehouse/internal/memory"
	"gatehouse/cmd/gatehouse/internal/metrics"
	"gatehouse/cmd/gatehouse/internal/move"
	"gatehouse/cmd/gatehouse/internal/reload"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

type serveCmd struct{ move.Anyway }

// Run runs every configured platform until ctx ends, then drains.
func (c serveCmd) Run(ctx context.Context, a *cli.App) error {
	// settings
	cfg, log, err := a.Config(slog.LevelDebug)
	if err != nil {
		return err
	}
	hangups := reload.Listen()
	warnOfApprovers(cfg, log)
	warnOfTools(cfg, log)
	if few := connections.FewFiles(); few != "" {
		log.Warn(few)
	}
	memory.Restrain(int64(cfg.TurnMemory), log)
	// the store
	version, _ := build()
	counts := metrics.New(version)
	store, owner, err := waitForStore(ctx, a, cfg, c.Anyway, counts, log)
	if err != nil || store == nil {
		return err
	}
	// approvals, and the MCP servers whose tools may need them
	parts := newShared(cfg, store, log)
	parts.metrics = counts
	// platforms
	platforms, err := parts.open(owner)
	if err != nil {
		return err
	}
	gate, err := newGate(ctx, cfg, store)
	if err != nil {
		return err
	}
	engine, err := newHTTPEngine(parts, owner, gate)
	if err != nil {
		return err
	}
	callbacks := newCallbacks(cfg, store)
	// tools, the agent, and what runs its turns
	g, err := newGateway(parts, owner, nil, append(platforms, engine, callbacks)...)
	if err != nil {
		return err
	}
	// HTTP
	pages := newPages(parts, gate, g.dispatcher)
	agents := newAgents(ctx, parts, gate, g.deliverer)
	if g.server, err = newServer(cfg.Listen, g, gate, pages, log, agentRoutes(agents, store)); err != nil {
		return err
	}
	log.Info("serving", "owner", owner, "listen", g.server.socket.Addr().String())
	go g.reload(ctx, a.Settings, hangups, gate)
	announce(gate, g.server.socket.Addr(), slices.ContainsFunc(platforms, called), log)
	return serve(ctx, g)
}

// serve runs the gateway, and logs that it drains before it logs that it has.
func serve(ctx context.Context, g *gateway) error {
	said := make(chan struct{})
	ends := context.AfterFunc(ctx, func() {
		defer close(said)
		g.log.Info("draining: running turns may go on for up to " + g.cfg.DrainTimeout.String() +
			", then the last posts are sent; a second signal ends gatehouse at once")
	})
	err := g.Run(ctx)
	if !ends() {
		<-said
	}
	g.log.Info("drained")
	return err
}

// How long serve waits between two attempts to open the database.
const (
	firstWait = 500 * time.Millisecond
	lastWait  = 15 * time.Second
)

// waitForStore opens the database, registers the process as an owner, checks that the database was not moved, and
// settles one that was restored. As long as the database is busy or can't be reached, it tries again. The store is nil,
// without an error, if ctx ends before.
func waitForStore(
	ctx context.Context, a *cli.App, cfg settings.Config, moved move.Anyway, counts *metrics.Metrics, log *slog.Logger,
) (store *storage.Store, owner string, err error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		if store == nil {
			if store, err = a.NewStore(ctx, cfg, log); err == nil {
				store = store.WithEngine(counts.Engine) // before it beats
			}
		}
		if err == nil && owner == "" {
			owner, err = store.Register(ctx, "serve", cfg.Heartbeat)
		}
		if err == nil {
			err = moved.Check(ctx, store, log)
		}
		if err == nil {
			err = backup.Settle(ctx, store, cfg.Drivers, log)
		}
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, "", nil
		case core.CategoryOf(err) != core.StoreBusy:
			return store, owner, err
		}
		log.Warn("waiting for the database; trying again", "wait", wait.String(), "category", core.StoreBusy,
			"err", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, "", nil
		}
		err = nil
	}
}

// warnOfApprovers warns of the platforms on which nobody may approve, and of approvers who can't show who they are.
func warnOfApprovers(cfg settings.Config, log *slog.Logger) {
	for _, warning := range cfg.WithoutToken() {
		log.Warn(warning)
	}
	names := strings.Join(cfg.WithoutApprovers(), " and ")
	people, _ := cfg.Platforms().Examples()
	examples := strings.Join(people, ",")
	switch {
	case names == "":
	case len(cfg.Policy.Approvers()) == 0 && cfg.PolicyFile == "":
		log.Warn("nobody may approve: GATEHOUSE_APPROVERS is not set, so changes requested in " + names +
			" are refused; set it, such as " + examples + ", and start gatehouse again")
	case cfg.PolicyFile != "":
		log.Warn("nobody may approve in " + names + ": neither the rules of " + cfg.PolicyFile +
			" nor GATEHOUSE_APPROVERS name anybody there; add approvers " +
			"to the file and send SIGHUP, or decide with gatehouse approvals")
	default:
		log.Warn("nobody may approve in " + names + ": GATEHOUSE_APPROVERS names nobody there; add ids, such as " +
			examples +
			", and start gatehouse again, or decide with gatehouse approvals")
	}
}
