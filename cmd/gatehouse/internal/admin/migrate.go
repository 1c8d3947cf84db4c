package admin

import (
	"context"
	"fmt"
	"log/slog"

	"gatehouse/cmd/gatehouse/internal/backup"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/move"
	"gatehouse/core"
	"gatehouse/storage"
)

// Migrate is gatehouse migrate.
type Migrate struct {
	cli.JSONFlag
	cli.YesFlag
	move.Flags
	Status bool `help:"Only print the schema version; exit with 1 if it is not up to date."`
	Back   bool `help:"Put the snapshot from before the last migration back, for the gatehouse of that time."`
	Lose   bool `help:"With --back: even if that loses what was accepted since."`
}

// Run migrates the database, or moves it. serve and chat do so too when they open it.
func (c Migrate) Run(ctx context.Context, a *cli.App) error {
	switch {
	case c.Wanted():
		return c.Flags.Run(ctx, a, c.JSONFlag)
	case c.Back:
		return backup.Back(ctx, a, c.JSONFlag, c.YesFlag, c.Lose)
	}
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	o, err := cli.StoreOptions(cfg, log)
	if err != nil {
		return err
	}
	found, known, err := storage.Version(ctx, cfg.DatabaseURL)
	switch {
	case err != nil:
		return err
	case c.Status:
		return c.status(a, found, known)
	case found > 0 && found < known:
		question := fmt.Sprintf("Migrate the database from schema version %d to %d? An older gatehouse can't open it "+
			"then.", found, known)
		if err := a.Ask(ctx, c.YesFlag, question); err != nil {
			return err
		}
	}
	progress := a.Progress(c.JSONFlag, "Migrating the database", 0)
	from, to, err := storage.Migrate(ctx, cfg.DatabaseURL, o)
	progress.End()
	switch {
	case err != nil:
		return err
	case c.JSON:
		return a.PrintJSON(map[string]int64{"from": from, "to": to})
	case from == to:
		a.PrintLine("The database is up to date: schema version %d.", to)
	default:
		a.PrintLine("The database was migrated from schema version %d to %d.", from, to)
	}
	return nil
}

func (c Migrate) status(a *cli.App, found, known int64) error {
	if c.JSON {
		if err := a.PrintJSON(
			map[string]any{"schema": found, "known": known, "up_to_date": found == known}); err != nil {
			return err
		}
	} else if found == known {
		a.PrintLine("The database is up to date: schema version %d.", found)
	}
	if found == known {
		return nil
	}
	return cli.Bad(core.Errorf(core.Invalid, "The database has schema version %d, this build needs %d. Run gatehouse "+
		"migrate, or start gatehouse serve.", found, known))
}
