package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Options are what a store takes from outside. The zero Options are those of a real process.
type Options struct {
	Now         func() time.Time
	NewID       func() string // invocation ids; see sqlstore.New
	Log         *slog.Logger
	BusyTimeout time.Duration            // how long to wait for another process's transaction; 5 s where 0
	Trace       func(sqlstore.Statement) // called for every statement, from several goroutines; for tests and measurements
}

// database is one process's opening of a database file.
type database struct {
	file    string
	options Options
	writer  *writer
	writeDB *sql.DB
	readDB  *sql.DB
	once    sync.Once
	mu      sync.Mutex
	locks   []*os.File // of owner names; guarded by mu
}

// readers is how many reads go on at once.
const readers = 4

// Open opens the database file, makes it where it is not there, and brings an older schema up to date. A newer one is refused
// (store_newer), and so is a file that is something else (store_unreadable).
func Open(ctx context.Context, file string, o Options) (*sqlstore.Store, error) {
	db, err := openDatabase(ctx, file, o)
	if err != nil {
		return nil, err
	}
	return db.store(), nil
}

func openDatabase(ctx context.Context, file string, o Options) (*database, error) {
	o = o.filled()
	if _, _, err := Migrate(ctx, file, o); err != nil {
		return nil, err
	}
	db := &database{
		file: file, options: o,
		writeDB: open(file, o, "_journal_mode=WAL&_txlock=immediate"),
		readDB:  open(file, o, "_journal_mode=WAL&_query_only=true"),
	}
	db.writeDB.SetMaxOpenConns(1)
	db.readDB.SetMaxOpenConns(readers)
	db.readDB.SetMaxIdleConns(readers)
	db.writer = newWriter(db.writeDB, o)
	return db, nil
}

// store gives the store's methods on the database.
func (db *database) store() *sqlstore.Store {
	return sqlstore.New(sqlstore.Hooks{
		Write: db.write, Read: db.read, Snapshot: db.read, Register: db.register, Close: db.close,
		Clock:     "0",
		LockQueue: addQueue, LockRateLimit: nothingToLock,
		ReadyQueues: readyQueues, DueDestinations: dueDestinations,
	}, db.options.NewID, db.options.Trace)
}

func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	return o
}

// clock reads the time as it is stored.
func clock(now func() time.Time) time.Time { return now().UTC().Round(0) }

// connector opens connections of one name; registering drivers by name would be global.
type connector struct {
	driver driver.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// open makes a pool; nothing is touched yet. What matters for durability is written out, whatever the driver's defaults are.
func open(file string, o Options, more string) *sql.DB {
	escaped := (&url.URL{Path: file}).EscapedPath()
	dsn := fmt.Sprintf("file:%s?_synchronous=FULL&_foreign_keys=on&_busy_timeout=%d&_stmt_cache_size=256&%s", escaped, o.BusyTimeout.Milliseconds(), more)
	return sql.OpenDB(connector{driver: &sqlite3.SQLiteDriver{ConnectHook: keepTempInMemory}, dsn: dsn})
}

// keepTempInMemory makes a connection need no temporary folder: savepoint journals would spill into files there, and on a read-only
// root file system no turn could be stored.
func keepTempInMemory(c *sqlite3.SQLiteConn) error {
	_, err := c.Exec(`pragma temp_store = memory`, nil)
	return err
}

// checkPath finds out early what SQLite would only call "unable to open".
func checkPath(file string) error {
	if file == "" || strings.HasPrefix(file, ":") {
		return core.Errorf(core.Invalid, "The database needs a file, such as sqlite:gatehouse.db.")
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return core.Errorf(core.StoreUnreadable, "%s is a folder. Name a file for the database.", file)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "Can't open the folder of the database %s. Create it, or set GATEHOUSE_DATABASE_URL to a file in another folder.", file)
	}
	return nil
}

// close lets running transactions end, closes the file and gives the owner names back.
func (db *database) close() error {
	var err error
	db.once.Do(func() {
		db.writer.close()
		db.mu.Lock()
		defer db.mu.Unlock()
		err = errors.Join(err, db.readDB.Close(), db.writeDB.Close())
		for _, lock := range db.locks {
			err = errors.Join(err, lock.Close())
		}
		db.locks = nil
	})
	return translate(db.file, err)
}

// write runs work in one transaction; see writer.
func (db *database) write(ctx context.Context, work sqlstore.Work) error {
	return translate(db.file, db.writer.submit(ctx, work))
}

// read runs work in one snapshot of what is committed.
func (db *database) read(ctx context.Context, work sqlstore.Work) error {
	inner, err := db.readDB.BeginTx(ctx, nil)
	if err != nil {
		return translate(db.file, fmt.Errorf("beginning to read: %w", err))
	}
	defer func() { _ = inner.Rollback() }() // it only reads
	return translate(db.file, work(runner(ctx, inner.ExecContext, inner.QueryContext), clock(db.options.Now)))
}
