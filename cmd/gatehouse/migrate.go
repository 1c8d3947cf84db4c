package main

import (
	"context"
	"log/slog"

	"gatehouse/core"
	"gatehouse/storage"
)

type migrateCmd struct {
	asJSON
	Status bool `help:"Only say where the database stands; exit 1 where it is not up to date."`
}

// Run migrates. Every other command does so too when it opens the database; this one does nothing else.
func (c migrateCmd) Run(ctx context.Context, a *app) error {
	cfg, _, err := a.config(slog.LevelWarn)
	if err != nil {
		return err
	}
	if c.Status {
		found, known, err := storage.Version(ctx, cfg.DatabaseURL)
		if err != nil {
			return err
		}
		return c.status(a, found, known)
	}
	from, to, err := storage.Migrate(ctx, cfg.DatabaseURL)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return a.json(map[string]int64{"from": from, "to": to})
	case from == to:
		a.say("The database is up to date: its schema is %d.", to)
	default:
		a.say("The database is now up to date: its schema was %d and is %d.", from, to)
	}
	return nil
}

func (c migrateCmd) status(a *app, found, known int64) error {
	if c.JSON {
		if err := a.json(map[string]any{"schema": found, "known": known, "up_to_date": found == known}); err != nil {
			return err
		}
	} else if found == known {
		a.say("The database is up to date: its schema is %d.", found)
	}
	if found == known {
		return nil
	}
	return bad(core.Errorf(core.Invalid, "The schema of the database is %d, this build's is %d; gatehouse migrate brings it up to date, and so does serve.", found, known))
}
