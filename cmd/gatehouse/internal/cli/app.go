// Package cli is what all commands share: the configuration and the store that they run on, the output and the exit
// codes.
package cli

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// Stdio is the standard input, output and error of a process.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// OpenStore opens the database that a URL names, and creates it where there is none.
type OpenStore func(ctx context.Context, url string, o storage.Options) (*storage.Store, error)

// App is what a command runs on.
type App struct {
	Stdio
	Settings  settings.Source
	OpenStore OpenStore

	store *storage.Store // the one that was opened
}

// Config reads the configuration and warns about unknown variables and unused settings. The log shows nothing below
// least.
func (a *App) Config(least slog.Level) (settings.Config, *slog.Logger, error) {
	cfg, log, err := a.config(least, a.Settings.Load)
	for _, warning := range cfg.Unused() {
		log.Warn(warning)
	}
	return cfg, log, err
}

func (a *App) config(
	least slog.Level, load func() (settings.Config, []settings.Setting, error),
) (settings.Config, *slog.Logger, error) {
	unknown := a.Settings.Unknown()
	cfg, _, err := load()
	if err != nil {
		for _, warning := range unknown { // one may be the misspelt key of what is missing
			a.Warn(warning)
		}
		return settings.Config{}, nil, err
	}
	log := NewLogger(a.Err, max(cfg.LogLevel, least), cfg.LogFormat)
	for _, warning := range unknown {
		log.Warn(warning)
	}
	return cfg, log, nil
}

// Store opens the configured database for a command. Where there is none it fails with not_found and creates none.
// Faults of the approval policy, the system prompt and the tools do not matter to commands: a running gateway goes on
// with those that it has.
func (a *App) Store(ctx context.Context) (*storage.Store, error) {
	cfg, log, err := a.config(slog.LevelWarn, a.Settings.LoadForCommands)
	if err != nil {
		return nil, err
	}
	schema, _, err := storage.Version(ctx, cfg.DatabaseURL)
	if err != nil {
		return nil, err
	}
	if schema == 0 {
		return nil, NoDatabase(cfg.DatabaseURL)
	}
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if moved, err := store.Moved(ctx); err == nil && moved != nil {
		a.Warn("This database was moved to " + moved.To + ": what this command shows or changes is the old one.")
	}
	return store, nil
}

// NewStore opens the configured database, and creates it where there is none. Close closes it.
func (a *App) NewStore(ctx context.Context, cfg settings.Config, log *slog.Logger) (*storage.Store, error) {
	o, err := StoreOptions(cfg, log)
	if err != nil {
		return nil, err
	}
	a.store, err = a.OpenStore(ctx, cfg.DatabaseURL, o)
	return a.store, err
}

// StoreOptions are the options of a store with this configuration.
func StoreOptions(cfg settings.Config, log *slog.Logger) (o storage.Options, err error) {
	o = storage.Options{NewID: NewID, Log: log, Snapshots: cfg.Snapshots}
	if len(cfg.Keys) > 0 {
		o.Signer, err = core.NewSigner(cfg.Keys...)
	}
	return o, err
}

// Close closes the database if a command opened it.
func (a *App) Close() error {
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}

// NoDatabase is the error of a command that needs a database where there is none (not_found). It
// names the missing database: a file by its absolute path, because the current folder may be the wrong one.
func NoDatabase(url string) error {
	location := settings.Mask("url", url)
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		location = strings.TrimPrefix(file, "//")
		if absolute, err := filepath.Abs(location); err == nil {
			location = absolute
		}
	}
	return core.Errorf(core.NotFound,
		"There is no gatehouse database at %s. Set GATEHOUSE_DATABASE_URL to an existing one, or create it with "+
			"gatehouse serve or gatehouse chat.", location)
}

// JSONFlag is the flag of every listing.
type JSONFlag struct {
	JSON bool `help:"Print JSON."`
}

// NewID makes ids: unique everywhere, and ordered by time.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
