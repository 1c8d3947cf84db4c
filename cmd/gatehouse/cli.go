package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/google/uuid"

	"gatehouse/adapters/console"
	"gatehouse/core"
	"gatehouse/storage"
)

// commands is the command line.
type commands struct {
	Serve serveCmd `cmd:"" default:"1" help:"Run the gateway until it is told to stop; the default."`
	Chat  chatCmd  `cmd:"" help:"Talk to the agent in this terminal."`

	Doctor   doctorCmd   `cmd:"" help:"Check configuration, database and platforms, and say how to mend what is wrong."`
	Manifest manifestCmd `cmd:"" help:"Print what makes the app at a platform."`

	Sessions    sessionsCmd    `cmd:"" help:"Conversations: list, show, reset, export, delete."`
	Turns       turnsCmd       `cmd:"" help:"What came in and what became of it."`
	Approvals   approvalsCmd   `cmd:"" help:"What waits for a decision, who decided what, and the audit log."`
	Deadletters deadlettersCmd `cmd:"" help:"What gave up, and why."`

	JoinCheck     joinCheckCmd     `cmd:"" help:"Judge whether a turn's tool calls are closed, from its evidence."`
	MutationCheck mutationCheckCmd `cmd:"" help:"Judge whether a mutation may follow a turn's evidence."`

	Queue   queueCmd   `cmd:"" help:"What waits."`
	Pause   pauseCmd   `cmd:"" help:"Stop taking turns, in all processes; nothing is lost."`
	Unpause unpauseCmd `cmd:"" help:"Take turns again."`
	Migrate migrateCmd `cmd:"" help:"Bring the database up to this version."`
	Config  configCmd  `cmd:"" help:"Print every setting, its value and where it came from."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

type serveCmd struct{}

// Run serves.
func (serveCmd) Run(ctx context.Context, a *app) error {
	cfg, log, err := a.config(slog.LevelDebug)
	if err != nil {
		return err
	}
	return serve(ctx, cfg, log, a.std)
}

type chatCmd struct {
	Session string `default:"default" placeholder:"ID" help:"The conversation; it goes on where it was left."`
}

// Run chats. What the log has to say goes to standard error, and while a prompt stands only where something is wrong.
func (c chatCmd) Run(ctx context.Context, a *app) error {
	if err := validSession(c.Session); err != nil {
		return err
	}
	if console.IsTerminal(a.std.In, a.std.Out, a.std.Err) {
		a.std.Err = besidePrompt{a.std.Err}
	}
	cfg, log, err := a.config(slog.LevelWarn)
	if err != nil {
		return err
	}
	store, err := openStore(ctx, cfg.DatabaseURL, log)
	if err != nil {
		return err
	}
	err = chatAt(ctx, cfg, c.Session, store, a.std.In, a.std.Out, os.Getenv("NO_COLOR") != "", log)
	return errors.Join(err, store.Close())
}

// app is what every command shares.
type app struct{ std stdio }

// config reads the configuration, and warns of variables that mean nothing. The log shows nothing below least.
func (a *app) config(least slog.Level) (Config, *slog.Logger, error) {
	unknown := unknownSettings()
	cfg, _, err := loadConfig()
	if err != nil {
		for _, warning := range unknown { // it may be the very key that is missing
			a.warn(warning)
		}
		return Config{}, nil, err
	}
	log := newLogger(a.std.Err, max(cfg.LogLevel, least), cfg.LogFormat)
	for _, warning := range unknown {
		log.Warn(warning)
	}
	return cfg, log, nil
}

// withStore runs do on the configured store. Where there is no database yet it is not_found, and nothing is made.
func (a *app) withStore(ctx context.Context, do func(core.Store) error) error {
	cfg, log, err := a.config(slog.LevelWarn)
	if err != nil {
		return err
	}
	schema, _, err := storage.Version(ctx, cfg.DatabaseURL)
	if err != nil {
		return err
	}
	if schema == 0 {
		return noDatabase(cfg.DatabaseURL)
	}
	return useStore(ctx, cfg.DatabaseURL, log, do)
}

// withNewStore runs do on the configured store, and makes it where it is not there.
func (a *app) withNewStore(ctx context.Context, do func(core.Store) error) error {
	cfg, log, err := a.config(slog.LevelWarn)
	if err != nil {
		return err
	}
	return useStore(ctx, cfg.DatabaseURL, log, do)
}

func useStore(ctx context.Context, url string, log *slog.Logger, do func(core.Store) error) error {
	store, err := openStore(ctx, url, log)
	if err != nil {
		return err
	}
	err = do(store)
	if closing := store.Close(); err == nil {
		err = closing
	}
	return err
}

// asJSON is the flag of every listing.
type asJSON struct {
	JSON bool `help:"Print JSON."`
}

// newID makes ids: unique everywhere, and ordered by time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// now is the clock of what the commands print.
var now = time.Now
