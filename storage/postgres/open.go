package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Options configure a store.
type Options = sqlstore.Options

// timeout is the default of Options.Timeout.
const timeout = 10 * time.Second

var _ sqlstore.Engine = (*database)(nil)

// database is one process's handle of a database; any number of processes may have one.
type database struct {
	options   Options
	pool      *pgxpool.Pool
	preparing *preparing
	beats     *database // one connection, so that a beat does not wait until another transaction ends
	once      sync.Once
}

// Open connects to the database and brings its schema up to date. It fails with store_newer if a newer gatehouse wrote
// the schema, and with store_unreadable if the schema holds another program's tables with the same names.
func Open(ctx context.Context, url string, o Options) (*sqlstore.Store, error) {
	db, err := openDatabase(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return db.store(ctx)
}

func openDatabase(ctx context.Context, url string, o Options) (*database, error) {
	o = o.Filled(timeout)
	if _, _, err := Migrate(ctx, url, o); err != nil {
		return nil, err
	}
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	return connect(ctx, config, o)
}

// connect makes the pools of a database whose schema is up to date.
func connect(ctx context.Context, config *pgxpool.Config, o Options) (*database, error) {
	p := &preparing{log: o.Log}
	config.BeforeConnect, config.AfterConnect = p.mode, settle
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, translate(err)
	}
	one := config.Copy()
	one.MinConns, one.MinIdleConns, one.MaxConns = 0, 0, 1
	beats, err := pgxpool.NewWithConfig(ctx, one)
	if err != nil {
		pool.Close()
		return nil, translate(err)
	}
	p.pools = []*pgxpool.Pool{pool, beats}
	return &database{options: o, pool: pool, preparing: p, beats: &database{options: o, pool: beats, preparing: p}}, nil
}

// store returns the store's methods on the database. If it fails, the database is closed.
func (db *database) store(ctx context.Context) (*sqlstore.Store, error) {
	s, err := sqlstore.New(ctx, db, db.options)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Close waits for running transactions and closes all connections.
func (db *database) Close() error {
	db.once.Do(func() {
		db.pool.Close()
		db.beats.pool.Close()
	})
	return nil
}

// connections is the maximum number of connections of a process, unless the URL sets pool_max_conns. There is one more
// for the beats.
const connections = 8

// configure parses the URL. No error contains any of it, since it may hold a password.
func configure(url string) (*pgxpool.Config, error) {
	if err := refuseForeign(url); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, core.Errorf(core.Invalid, "The address of the database can't be read. It must be of the form "+
			"postgres://USER:PASSWORD@HOST:5432/DATABASE; a character such as @ or / in the password is written as "+
			"%%40 or %%2F. See gatehouse help cmd/gatehouse#postgres.")
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = connections
	}
	c := config.ConnConfig
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "gatehouse"
	}
	c.RuntimeParams["client_encoding"] = utf8 // a role or a database may have another default
	if c.ValidateConnect == nil {
		c.ValidateConnect = primary
	}
	other := func(f *pgconn.FallbackConfig) bool { return f.Host != c.Host || f.Port != c.Port }
	if c.ConnectTimeout == 0 && slices.ContainsFunc(c.Fallbacks, other) {
		c.ConnectTimeout = hostTimeout
	}
	return config, nil
}

// hostTimeout is how long a host that does not answer keeps the next one from being tried, unless the URL sets
// connect_timeout.
const hostTimeout = 3 * time.Second

// Register returns a name that was never used before. No database can prove that a process on another machine is dead,
// so what a dead one held can be claimed again once it has been silent.
func (db *database) Register(instance string, _ func(owner string) error) (string, error) {
	return instance + "-" + uuid.NewString(), nil
}

// Space is the server's own matter: a commit that fails tells.
func (db *database) Ready() error { return nil }

// Shrink has nothing to do: the server gives space back by itself.
func (db *database) Shrink(context.Context) (more bool, err error) { return false, nil }

// Faults finds none: the server checks its files.
func (db *database) Faults(*sqlstore.Tx) ([]string, error) { return nil, nil }

// FileBytes are 0: files are the server's.
func (db *database) FileBytes() (database, log int64) { return 0, 0 }
