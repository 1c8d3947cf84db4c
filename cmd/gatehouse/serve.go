package main

import (
	"context"
	"log/slog"
	"math/rand/v2"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals"
	"gatehouse/core"
)

// serve is "gatehouse serve": it runs every platform that the configuration names until it is told to stop, then drains.
func serve(ctx context.Context, cfg Config, log *slog.Logger, _ stdio) error {
	if !cfg.Slack.Enabled() && !cfg.Discord.Enabled() {
		return core.Errorf(core.Invalid, "%s", noPlatform)
	}
	store, err := openStore(ctx, cfg.DatabaseURL, log)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // what was said to be stored is stored; leases left behind are taken back at the next start
	owner, err := store.Register(ctx, "serve")
	if err != nil {
		return err
	}
	platforms, err := newPlatforms(ctx, cfg, store, owner, log)
	if err != nil {
		return err
	}
	g, err := newGateway(cfg, store, owner, log, nil, platforms...)
	if err != nil {
		return err
	}
	if g.server, err = newServer(cfg.Listen, g, log); err != nil {
		return err
	}
	log.Info("serving", "owner", owner, "listen", g.server.socket.Addr().String())
	err = g.Run(ctx)
	log.Info("drained")
	return err
}

// newPlatforms makes the platforms whose settings are there: a line each.
func newPlatforms(ctx context.Context, cfg Config, store core.Store, owner string, log *slog.Logger) ([]core.Platform, error) {
	signer, err := newSigner(ctx, cfg, store)
	if err != nil {
		return nil, err
	}
	desk := approvals.NewService(store)
	var platforms []core.Platform
	if cfg.Slack.Enabled() {
		platforms = append(platforms, slack.New(slack.Options{Config: cfg.Slack, Signer: signer, Cards: desk, Jitter: rand.Float64, Log: log}))
	}
	if cfg.Discord.Enabled() {
		recent := func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Limit: recentEvents})
		}
		open := func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Waiting: true, Limit: recentEvents})
		}
		platforms = append(platforms, discord.New(discord.Options{
			Config: cfg.Discord, Signer: signer, Card: desk.Card, KV: store, Recent: recent, Open: open, Owner: owner, Lease: cfg.Lease, Jitter: rand.Float64, Log: log,
		}))
	}
	return platforms, nil
}

// recentEvents is how far back a platform looks for the conversations that it knows, to fetch what it missed there.
const recentEvents = 2000

// noPlatform is what somebody reads who serves without one.
const noPlatform = `No platform is configured, so there is nothing to serve.
To talk to the agent in this terminal:  gatehouse chat
To add Slack:    gatehouse manifest slack, and the section Slack of README; its tokens go into the environment as config.example.env says.
To add Discord:  gatehouse manifest discord, and the section Discord of README.`
