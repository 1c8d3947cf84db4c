package main

import (
	"context"
	"log/slog"

	"gatehouse/core"
)

// serve is "gatehouse serve": it runs every platform that the configuration names until it is told to stop, then drains.
func serve(ctx context.Context, cfg Config, log *slog.Logger, _ stdio) error {
	platforms := newPlatforms(cfg)
	if len(platforms) == 0 {
		return core.Errorf(core.Invalid, "%s", noPlatform)
	}
	store, err := openStore(ctx, cfg.DatabaseURL, log)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // what was said to be stored is stored; leases left behind are taken back at the next start
	owner, err := store.Enroll(ctx, "serve")
	if err != nil {
		return err
	}
	g, err := newGateway(cfg, store, owner, log, platforms...)
	if err != nil {
		return err
	}
	log.Info("serving", "owner", owner)
	err = g.Run(ctx)
	log.Info("drained")
	return err
}

// newPlatforms makes the platforms whose settings are there: a line each.
func newPlatforms(Config) []core.Platform { return nil }

// noPlatform is what somebody reads who serves without one.
const noPlatform = `No platform is configured, so there is nothing to serve.
To talk to the agent in this terminal:  gatehouse chat
To add a platform, set its tokens in the environment as config.example.env says. This build has no platform but the terminal yet.`
