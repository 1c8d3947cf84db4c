package backup

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// Back is gatehouse migrate --back: it puts the newest snapshot from before a migration in the place of the database.
// With lose that may lose what was accepted since.
func Back(ctx context.Context, a *cli.App, json cli.JSONFlag, yes cli.YesFlag, lose bool) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	if storage.IsServer(cfg.DatabaseURL) {
		return core.Errorf(core.Unsupported, "%s is on a server, of which gatehouse makes no snapshots. Put the dump "+
			"from before the upgrade back into an empty database with pg_restore --dbname=URL FILE, run gatehouse "+
			"restore --mark, and start the gatehouse of that time.", settings.Mask("url", cfg.DatabaseURL))
	}
	found, _, err := storage.Version(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	if found == 0 {
		return cli.NoDatabase(cfg.DatabaseURL)
	}
	snapshot, err := storage.NewestBefore(cfg.DatabaseURL, found)
	if err != nil {
		return err
	}
	since, err := storage.SinceSnapshot(ctx, cfg.DatabaseURL, snapshot)
	if err != nil {
		return err
	}
	lost := fmt.Sprintf("Since the snapshot of %s the database has accepted %s, opened %s and made %s in "+
		"the audit log.", cli.Stamp(snapshot.At), count(since.Events, "event"), count(since.Approvals, "approval"),
		count(since.Entries, "record"))
	if since.Any() && !lose {
		return cli.Exit(cli.ExitBad, core.Errorf(core.Invalid, "%s Nothing was changed. Give --lose to go back "+
			"without that; the database stays beside it as a snapshot.", lost))
	}
	if err := a.Ask(ctx, yes, lost+" Go back to the snapshot?"); err != nil {
		return err
	}
	o, err := cli.StoreOptions(cfg, log)
	if err != nil {
		return err
	}
	began := time.Now()
	progress := a.Progress(json, "Putting the snapshot back", 0)
	kept, err := storage.MoveBack(ctx, cfg.DatabaseURL, snapshot, since, o, func(s *storage.Store) error {
		return Settle(ctx, s, cfg.Drivers, log)
	})
	progress.End()
	switch core.CategoryOf(err) {
	case "":
	case core.StoreBusy:
		return cli.Exit(cli.ExitBad, core.Wrap(core.StoreBusy, err, "Another process uses the database, so it stays "+
			"as it is. Stop all gatehouse processes first."))
	case core.Invalid:
		return cli.Bad(err)
	default:
		return err
	}
	build := fmt.Sprintf("the gatehouse whose schema is %d: gatehouse migrate --status of the right one says that the "+
		"database is up to date", snapshot.Schema)
	if json.JSON {
		return a.PrintJSON(map[string]any{
			"from": found, "to": snapshot.Schema, "snapshot": snapshot.File, "kept": kept,
			"lost": map[string]int64{
				"events": since.Events, "approvals": since.Approvals, "audit_entries": since.Entries,
			},
		})
	}
	a.PrintLine("The database has schema version %d again, as of %s; it took %s. %s", snapshot.Schema,
		cli.Stamp(snapshot.At), time.Since(began).Round(time.Millisecond), lost)
	a.PrintLine("What it was is kept as %s.", kept)
	a.PrintLine("Start %s.", build)
	return nil
}
