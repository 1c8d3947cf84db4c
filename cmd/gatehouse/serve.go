package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

type serveCmd struct{}

// Run runs every configured platform until ctx ends, then drains.
func (serveCmd) Run(ctx context.Context, a *cli.App) error {
	cfg, log, err := a.Config(slog.LevelDebug)
	if err != nil {
		return err
	}
	if !cfg.Slack.Enabled() && !cfg.Discord.Enabled() {
		return core.Errorf(core.Invalid, "%s", noPlatform)
	}
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	owner, err := store.Register(ctx, "serve")
	if err != nil {
		return err
	}
	platforms, webhooks, err := newPlatforms(ctx, cfg, store, owner, log)
	if err != nil {
		return err
	}
	g, err := newGateway(cfg, store, owner, log, nil, platforms...)
	if err != nil {
		return err
	}
	if g.server, err = newServer(cfg.Listen, g, webhooks, log); err != nil {
		return err
	}
	log.Info("serving", "owner", owner, "listen", g.server.socket.Addr().String())
	err = g.Run(ctx)
	log.Info("drained")
	return err
}

// newPlatforms makes the configured platforms.
func newPlatforms(ctx context.Context, cfg settings.Config, store *storage.Store, owner string, log *slog.Logger) (platforms []core.Platform, webhooks []routes, err error) {
	signer, err := newSigner(ctx, cfg.Keys, store)
	if err != nil {
		return nil, nil, err
	}
	service := approvals.NewService(store, store)
	if cfg.Slack.Enabled() {
		p := slack.New(slack.Options{Config: cfg.Slack, Signer: signer, Card: service.Card, Jitter: mathrand.Float64, Log: log})
		platforms, webhooks = append(platforms, p), append(webhooks, p.Routes)
	}
	if cfg.Discord.Enabled() {
		recent := func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Limit: settings.RecentEvents})
		}
		open := func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Waiting: true, Limit: settings.RecentEvents})
		}
		p := discord.New(discord.Options{
			Config: cfg.Discord, Signer: signer, Card: service.Card, KV: store, Recent: recent, Open: open, Owner: owner, Lease: cfg.Lease, Jitter: mathrand.Float64, Log: log,
		})
		platforms, webhooks = append(platforms, p), append(webhooks, p.Routes)
	}
	return platforms, webhooks, nil
}

// newSigner signs with the configured keys. Where there are none it uses a key that is generated once and kept in the database, so that
// all processes on the database have the same.
func newSigner(ctx context.Context, keys []string, store *storage.Store) (*core.Signer, error) {
	if len(keys) > 0 {
		return core.NewSigner(keys...)
	}
	key, err := store.PutIfAbsent(ctx, "secret-key", rand.Text())
	if err != nil {
		return nil, err
	}
	return core.NewSigner(key)
}

const noPlatform = `No platform is configured, so there is nothing to serve.
To talk to the agent in this terminal:  gatehouse chat
To add Slack:    run gatehouse manifest slack, and follow adapters/slack/README.md.
To add Discord:  run gatehouse manifest discord, and follow adapters/discord/README.md.`
