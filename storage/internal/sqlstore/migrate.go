package sqlstore

import (
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Migrations returns the provider of an engine's migrations, which are in the folder migrations of files, and the version of the
// latest one.
func Migrations(dialect goose.Dialect, db *sql.DB, files fs.FS, options ...goose.ProviderOption) (p *goose.Provider, known int64, err error) {
	folder, err := fs.Sub(files, "migrations")
	if err == nil {
		p, err = goose.NewProvider(dialect, db, folder, options...)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the migrations: %w", err)
	}
	sources := p.ListSources()
	return p, sources[len(sources)-1].Version, nil
}
