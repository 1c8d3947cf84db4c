package backup

import (
	"context"
	"log/slog"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// Restore is gatehouse restore.
type Restore struct {
	cli.JSONFlag
	File    string `arg:"" optional:"" help:"A file that gatehouse backup made, or a snapshot."`
	CatchUp bool   `help:"What arrived since the backup is fetched from the platforms that can."`
	Mark    bool   `help:"Mark the database, which was put back in another way, such as with pg_restore."`
}

// Help says what a restore means.
func (Restore) Help() string {
	return "The database must not exist yet. What was decided, run and sent since the backup is not known: the next " +
		"gatehouse serve or chat cancels the approvals that had not run, holds events that had not ended as dead " +
		"letters, and looks up posts before it sends them. gatehouse queue says how much that was."
}

// Run puts the file in the place of the database, or marks the database.
func (c Restore) Run(ctx context.Context, a *cli.App) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	if c.Mark == (c.File != "") {
		return core.Errorf(core.Invalid, "Name the file of a backup, or give --mark for a database that was put back "+
			"in another way.")
	}
	o, err := cli.StoreOptions(cfg, log)
	if err != nil {
		return err
	}
	mark := core.RestoreMark{CatchUp: c.CatchUp}
	if c.Mark {
		return c.mark(ctx, a, cfg, mark)
	}
	if storage.IsServer(cfg.DatabaseURL) {
		return core.Errorf(core.Unsupported, "%s is on a server. Put the backup back with its own tool: pg_restore "+
			"--dbname=URL FILE, into an empty database. Then run gatehouse restore --mark before anything serves it.",
			settings.Mask("url", cfg.DatabaseURL))
	}
	if mark.Taken, err = storage.TakenAt(ctx, c.File); err != nil {
		return err
	}
	progress := a.Progress(c.JSONFlag, "Restoring the database", 100)
	err = storage.Restore(ctx, c.File, cfg.DatabaseURL, o, storage.Copying{
		Mark: mark, Progress: func(done, of int64) { progress.Done(done * 100 / max(of, 1)) },
	})
	progress.End()
	if err != nil {
		return cli.Bad(err)
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"database": settings.Mask("url", cfg.DatabaseURL), "mark": mark})
	}
	a.PrintLine("The database %s is there. Start gatehouse serve: it first ends what nobody knows the outcome of.",
		settings.Mask("url", cfg.DatabaseURL))
	return nil
}

// leastWatch is how long processes are watched at least, to see whether one lives.
const leastWatch = 2 * time.Second

// mark marks the database, unless a process serves it. A process that starts meanwhile either sees the mark, or is
// seen. The mark stays in either case: the process may be settling the database already.
func (c Restore) mark(ctx context.Context, a *cli.App, cfg settings.Config, m core.RestoreMark) error {
	store, err := a.Store(ctx)
	if err != nil {
		return err
	}
	if owner, err := store.Serving(ctx, max(cfg.Heartbeat, leastWatch)); err != nil || owner != "" {
		return served(owner, err)
	}
	if err := store.MarkRestored(ctx, m); err != nil {
		return err
	}
	if owner, err := store.Serving(ctx, max(cfg.Heartbeat, leastWatch)); err != nil || owner != "" {
		return startedMeanwhile(owner, err)
	}
	if c.JSON {
		return a.PrintJSON(map[string]any{"database": settings.Mask("url", cfg.DatabaseURL), "mark": m})
	}
	a.PrintLine("The database %s is marked. Start gatehouse serve: it first ends what nobody knows the outcome of.",
		settings.Mask("url", cfg.DatabaseURL))
	return nil
}

func startedMeanwhile(owner string, err error) error {
	if err != nil {
		return err
	}
	return cli.Bad(core.Errorf(core.Invalid, "The process %s started meanwhile. The database is marked. Stop that "+
		"process and start it again, unless its log says that it settled it.", owner))
}

func served(owner string, err error) error {
	if err != nil {
		return err
	}
	return cli.Bad(core.Errorf(core.Invalid, "The process %s serves the database, so nothing was changed. Stop all "+
		"processes that use it, and run this again.", owner))
}
