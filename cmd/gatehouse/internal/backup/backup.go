package backup

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

// Backup is gatehouse backup.
type Backup struct {
	cli.JSONFlag
	File string `arg:"" help:"The new file; one that exists is not overwritten."`
}

// Help says what to do with the file.
func (Backup) Help() string {
	return "The file is the database as it was when the command began or later, and is checked before it gets its " +
		"name. It holds all messages and, where GATEHOUSE_SECRET_KEY is not set, the secret key: keep it as safe as " +
		"the database. gatehouse restore puts it back, and so does cp in an empty place."
}

// Run copies the database while other processes use it. A file whose audit log has faults is kept, with exit code 1.
func (c Backup) Run(ctx context.Context, a *cli.App) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	if storage.IsServer(cfg.DatabaseURL) {
		return core.Errorf(core.Unsupported, "%s is on a server. Make a backup with its own tool: pg_dump "+
			"--format=custom --file=%s URL. After pg_restore into an empty database, run gatehouse restore --mark "+
			"before anything serves it.", settings.Mask("url", cfg.DatabaseURL), c.File)
	}
	found, known, err := storage.Version(ctx, cfg.DatabaseURL)
	switch {
	case err != nil:
		return err
	case found == 0:
		return cli.NoDatabase(cfg.DatabaseURL)
	case found < known:
		return core.Errorf(core.Invalid, "The database has schema version %d, this build needs %d. Make the backup "+
			"with the gatehouse that serves it, or run gatehouse migrate first, which makes a snapshot.", found, known)
	}
	o, err := cli.StoreOptions(cfg, log)
	if err != nil {
		return err
	}
	progress := a.Progress(c.JSONFlag, "Copying the database", 100)
	var report approvals.LogReport
	err = storage.Backup(ctx, cfg.DatabaseURL, c.File, o, storage.Copying{
		Mark:     core.RestoreMark{Taken: time.Now().UTC()},
		Progress: func(done, of int64) { progress.Done(done * 100 / max(of, 1)) },
		Check: func(s *storage.Store) (err error) {
			report, err = verify(ctx, s)
			return err
		},
	})
	progress.End()
	if err != nil {
		return cli.Bad(err)
	}
	broken := faulty(report, c.File)
	if c.JSON {
		if err := a.PrintJSON(map[string]any{
			"file": c.File, "audit_entries": report.Entries, "audit_faults": append([]string{}, report.Faults...),
		}); err != nil {
			return err
		}
		return broken
	}
	a.PrintLine("The backup %s is whole: the file is not damaged, and its audit log of %d entries was checked.",
		c.File, report.Entries)
	return broken
}

// verify checks the audit log of a copy, also where it was begun before a key was configured.
func verify(ctx context.Context, s *storage.Store) (r approvals.LogReport, err error) {
	key, err := s.DatabaseKey(ctx)
	signer := s.Signer()
	if err == nil && key != "" {
		signer, err = signer.With(key)
	}
	if err != nil {
		return r, err
	}
	return approvals.VerifyLog(ctx, s, audit.KeysOf(signer), "")
}

func faulty(r approvals.LogReport, file string) error {
	if len(r.Faults) == 0 {
		return nil
	}
	return cli.Exit(cli.ExitBad, core.Errorf(core.Invalid, "The audit log in %s has faults, as it has in the "+
		"database: %s\nThe backup is kept. Run gatehouse approvals log --verify.", file, strings.Join(r.Faults, " ")))
}

// count is a number of things.
func count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
