// Package move is gatehouse migrate --from URL --to URL, and what keeps a database from being served after that.
package move

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

// Flags are those of gatehouse migrate that move a database.
type Flags struct {
	From string `placeholder:"URL" help:"Move this SQLite database, such as sqlite:gatehouse.db, to an empty Postgres database."`
	To   string `placeholder:"URL" help:"Where --from is moved to. Not given: the one of GATEHOUSE_DATABASE_URL."`
	Anyway
}

// Anyway is the flag that takes a moved database for what it was.
type Anyway struct {
	MovedAnyway bool `help:"Use the database although it was moved to another one."`
}

// Wanted reports whether a database is to be moved.
func (f Flags) Wanted() bool { return f.From != "" || f.To != "" }

// Run moves the database.
func (f Flags) Run(ctx context.Context, a *cli.App, json cli.JSONFlag) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	to := f.To
	if to == "" {
		to = cfg.DatabaseURL
	}
	if f.From == "" {
		return core.Errorf(core.Invalid, "--to needs --from, the database that is moved, such as sqlite:gatehouse.db.")
	}
	o, err := cli.StoreOptions(cfg, log)
	if err != nil {
		return err
	}
	w := &watcher{app: a, json: json}
	defer w.end()
	moved, err := storage.Move{
		From:    f.From,
		To:      to,
		Name:    settings.Mask("url", to),
		Options: o,
		Again:   f.MovedAnyway,
		Quiet:   cfg.Heartbeat,
		Watch:   w,
	}.Run(ctx)
	w.end()
	switch {
	case err != nil:
		return err
	case json.JSON:
		return a.PrintJSON(map[string]any{
			"to": moved.To, "at": moved.At, "id": moved.ID, "rows": moved.Rows, "copied_before": moved.Before,
		})
	case moved.Before:
		a.PrintLine("An earlier run had copied everything to %s; the old database now says so.", moved.To)
	default:
		a.PrintLine("%d rows were copied to %s; the audit log there is intact.", sum(moved.Rows), moved.To)
	}
	a.PrintLine("Set GATEHOUSE_DATABASE_URL to it and start gatehouse serve. The old database is unchanged and " +
		"marked as moved: keep it as a backup.")
	return nil
}

func sum(rows map[string]int64) (all int64) {
	for _, n := range rows {
		all += n
	}
	return all
}

// watcher shows how far a move is, and checks its copy.
type watcher struct {
	app      *cli.App
	json     cli.JSONFlag
	progress *cli.Progress // nil: none
}

// Begin shows a bar.
func (w *watcher) Begin(rows int64) { w.progress = w.app.Progress(w.json, "Copying", rows) }

// Copied moves the bar on.
func (w *watcher) Copied(rows int64) { w.progress.Done(rows) }

func (w *watcher) end() {
	if w.progress != nil {
		w.progress.End()
		w.progress = nil
	}
}

// Verify checks the audit log of the copy, also with the key that came along in the database.
func (w *watcher) Verify(ctx context.Context, copied *storage.Store) error {
	w.end()
	w.progress = w.app.Progress(w.json, "Checking the audit log", 0)
	signer := copied.Signer()
	key, err := copied.DatabaseKey(ctx)
	if err == nil && key != "" {
		signer, err = signer.With(key)
	}
	if err != nil {
		return err
	}
	r, err := approvals.VerifyLog(ctx, copied, audit.KeysOf(signer), "")
	if err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return cli.Bad(core.Errorf(core.Invalid, "The audit log of the copy is not intact, so nothing was moved:\n  "+
			"%s\nRun gatehouse approvals log --verify on the old database, with all its keys in "+
			"GATEHOUSE_SECRET_KEY.", strings.Join(r.Faults, "\n  ")))
	}
	return nil
}

// Check fails with invalid if the store says that its database was moved to another one.
func (f Anyway) Check(ctx context.Context, store *storage.Store, log *slog.Logger) error {
	m, err := store.Moved(ctx)
	if err != nil || m == nil {
		return err
	}
	at := m.At.Format(time.RFC3339)
	said := fmt.Sprintf("This database was moved to %s at %s", m.To, at)
	mend := "Set GATEHOUSE_DATABASE_URL to that one."
	if !m.Done {
		said = fmt.Sprintf("A move of this database to %s was begun at %s, and it is not known whether it was "+
			"completed", m.To, at)
		mend = "Run the same gatehouse migrate again: it completes the move."
	}
	if f.MovedAnyway {
		log.Warn(said + "; it is used all the same, and what happens in one is not known in the other")
		return nil
	}
	return core.Errorf(core.Invalid, "%s. %s To use this one all the same, with what has happened since then missing, "+
		"add --moved-anyway.", said, mend)
}
