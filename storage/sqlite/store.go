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

	"github.com/google/uuid"
	"github.com/mattn/go-sqlite3"

	"gatehouse/core"
)

var _ core.Store = (*Store)(nil)

// Options are what a store takes from outside. The zero Options are those of a real process.
type Options struct {
	Now         func() time.Time
	NewID       func() string // invocation ids; UUIDv7 where nil
	Log         *slog.Logger
	BusyTimeout time.Duration   // how long to wait for another process's transaction; 5 s where 0
	Trace       func(Statement) // called for every statement, from several goroutines; for tests and measurements
}

// Store is one process's opening of a database file.
type Store struct {
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
func Open(ctx context.Context, file string, o Options) (*Store, error) {
	o = o.filled()
	if _, _, err := Migrate(ctx, file, o); err != nil {
		return nil, err
	}
	s := &Store{
		file: file, options: o,
		writeDB: open(file, o, "_journal_mode=WAL&_txlock=immediate"),
		readDB:  open(file, o, "_journal_mode=WAL&_query_only=true"),
	}
	s.writeDB.SetMaxOpenConns(1)
	s.readDB.SetMaxOpenConns(readers)
	s.readDB.SetMaxIdleConns(readers)
	s.writer = newWriter(s.writeDB, o)
	return s, nil
}

func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
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

// checkPlace finds out early what SQLite would only call "unable to open".
func checkPlace(file string) error {
	if file == "" || strings.HasPrefix(file, ":") {
		return core.Errorf(core.Invalid, "The database needs a file, such as sqlite:gatehouse.db.")
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return core.Errorf(core.StoreUnreadable, "%s is a folder. Name a file for the database.", file)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "The folder of the database %s can't be reached. Make it, or name another place.", file)
	}
	return nil
}

// Close lets running transactions end, closes the file and gives the owner names back.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		s.writer.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		err = errors.Join(err, s.readDB.Close(), s.writeDB.Close())
		for _, lock := range s.locks {
			err = errors.Join(err, lock.Close())
		}
		s.locks = nil
	})
	return translate(s.file, err)
}

// write runs do in one transaction; see writer.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	return translate(s.file, s.writer.submit(ctx, do))
}

// fenced runs do in one transaction, if the claim still holds its conversation.
func (s *Store) fenced(ctx context.Context, c core.Claim, do func(*tx) error) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.fence(c); err != nil {
			return err
		}
		return do(t)
	})
}

// read runs do in one snapshot of what is committed.
func (s *Store) read(ctx context.Context, do func(*tx) error) error {
	return translate(s.file, s.snapshot(ctx, do))
}

func (s *Store) snapshot(ctx context.Context, do func(*tx) error) error {
	inner, err := s.readDB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = inner.Rollback() }() // it only reads
	return do(&tx{ctx: ctx, on: inner, trace: s.options.Trace, newID: s.options.NewID, now: clock(s.options.Now)})
}
