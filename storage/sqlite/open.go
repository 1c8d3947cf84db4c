package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Options configure a store.
type Options = sqlstore.Options

// busyTimeout is the default of Options.Timeout.
const busyTimeout = 5 * time.Second

var _ sqlstore.Engine = (*database)(nil)

// database is one process's handle of a database file.
type database struct {
	file    string
	options Options
	writer  *writer
	readers *readers
	once    sync.Once
	mu      sync.Mutex
	locks   []*os.File // of owner names; guarded by mu
}

// Open opens the database file, creates it if it is missing, and brings its schema up to date. It fails with
// store_newer if a newer gatehouse wrote the file, and with store_unreadable if the file is not a gatehouse database.
func Open(ctx context.Context, file string, o Options) (*sqlstore.Store, error) {
	db, err := openDatabase(ctx, file, o)
	if err != nil {
		return nil, err
	}
	return db.store(ctx)
}

// openDatabase migrates a file and connects with it. While MoveBack puts another file in its place, it waits for that.
func openDatabase(ctx context.Context, file string, o Options) (*database, error) {
	o = o.Filled(busyTimeout)
	for {
		if _, _, err := Migrate(ctx, file, o); err != nil {
			return nil, err
		}
		db, err := connectLocked(ctx, file, o)
		if db != nil || err != nil {
			return db, err
		}
	}
}

// connectLocked connects with a file while nobody moves it back or migrates it. It returns nil, nil if the file's
// schema is not up to date any more.
func connectLocked(ctx context.Context, file string, o Options) (*database, error) {
	lock, err := flock(file+".migrate.lock", unix.LOCK_SH)
	if err == nil {
		defer lock.Close()
	} // otherwise the lock is another user's, and so is MoveBack
	found, _, err := version(ctx, file, o)
	if err != nil || found != migrations.Known {
		return nil, translate(file, err)
	}
	return connected(file, o)
}

// connected connects with a file, whose schema stays as it is. The options are filled.
func connected(file string, o Options) (*database, error) {
	db := &database{
		file: file, options: o, readers: newReaders(source(file, o, "mode=rw&_journal_mode=WAL&_query_only=true")),
	}
	writing := writing(file, o)
	db.writer = newWriter(writing, file, o)
	if err := db.writer.connect(); err != nil {
		return nil, translate(file, err)
	}
	return db, nil
}

func writing(file string, o Options) connector {
	return source(file, o, "mode=rw&_journal_mode=WAL&_txlock=immediate")
}

// store returns the store's methods on the database. If it fails, the database is closed.
func (db *database) store(ctx context.Context) (*sqlstore.Store, error) {
	s, err := sqlstore.New(ctx, db, db.options)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// Traits returns those of an engine with one writer, whose clock is the process's.
func (db *database) Traits() sqlstore.Traits {
	return sqlstore.Traits{Clock: "0", Size: "0", Leaps: []string{
		`insert into sqlite_sequence (name, seq) select numbered.name, 0 from (
			select 'events' as name union all select 'outbox') numbered
		where numbered.name not in (select name from sqlite_sequence)`,
		fmt.Sprintf(`update sqlite_sequence set seq = seq + %d where name in ('events', 'outbox')`, sqlstore.Leap),
	}}
}

// clock returns the time as it is stored.
func clock(now func() time.Time) time.Time { return now().UTC().Round(0) }

// connector opens connections with one data source name. Registering a driver by name would be global.
type connector struct {
	driver driver.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// source tells how to open connections. It sets everything that matters for durability, whatever the driver's defaults.
// What is deleted is overwritten (secure_delete), so that no text is left in the file.
func source(file string, o Options, more string) connector {
	escaped := (&url.URL{Path: file}).EscapedPath()
	dsn := fmt.Sprintf("file:%s?_synchronous=FULL&_foreign_keys=on&_secure_delete=on&_busy_timeout=%d&%s", escaped,
		o.Timeout.Milliseconds(), more)
	return connector{driver: &sqlite3.SQLiteDriver{ConnectHook: configure}, dsn: dsn}
}

// open returns a connection pool of database/sql and touches nothing yet.
func open(file string, o Options, more string) *sql.DB { return sql.OpenDB(source(file, o, more)) }

// logPages is the length of the write-ahead log, in pages, from which it is moved into the file: 16 MiB. A longer log
// writes less, since pages that change often are moved once.
const logPages = 16 << 20 / pageSize

// keptLog is the length in bytes to which the log is cut when it is begun again: a reader that reads for long makes it
// grow.
const keptLog = 32 << 20

// configure sets what a data source name can't. Temporary files stay in memory, so that no temporary folder is needed:
// savepoint journals would otherwise spill into files there, and on a read-only root file system no turn could be
// stored.
func configure(c *sqlite3.SQLiteConn) error {
	_, err := c.Exec(fmt.Sprintf(`pragma temp_store = memory; pragma wal_autocheckpoint = %d;
		pragma journal_size_limit = %d`, logPages, keptLog), nil)
	return err
}

// checkPath finds early what SQLite would only call "unable to open".
func checkPath(file string) error {
	if file == "" || strings.HasPrefix(file, ":") {
		// The message leaves the URL out: it may hold a password.
		return core.Errorf(core.Invalid,
			"The database needs a file, such as sqlite:gatehouse.db, or a server, such as "+
				"postgres://USER:PASSWORD@HOST/DATABASE. See gatehouse help cmd/gatehouse#settings.")
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return core.Errorf(core.StoreUnreadable, "%s is a folder. Name a file for the database.", file)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return core.Wrap(core.StoreUnreadable, err,
			"Can't open the folder of the database %s. Create it, or set GATEHOUSE_DATABASE_URL to a file in another "+
				"folder.", file)
	}
	return nil
}

// Close waits for running transactions, closes the file and releases the owner names.
func (db *database) Close() error {
	var err error
	db.once.Do(func() {
		err = db.writer.close()
		db.mu.Lock()
		defer db.mu.Unlock()
		err = errors.Join(err, db.readers.close())
		for _, lock := range db.locks {
			err = errors.Join(err, lock.Close())
		}
		db.locks = nil
	})
	return translate(db.file, err)
}

// Write runs work in one transaction; see writer.
func (db *database) Write(ctx context.Context, work sqlstore.Work) error {
	return translate(db.file, db.writer.submit(ctx, work, sqlstore.Patient(ctx)))
}

// Beat is Write: the next commit takes the beat with it.
func (db *database) Beat(ctx context.Context, work sqlstore.Work) error { return db.Write(ctx, work) }

// Read runs work, which reads with a single statement: so it sees one snapshot of the committed data.
func (db *database) Read(ctx context.Context, work sqlstore.Work) error {
	return translate(db.file, db.readers.use(ctx, func(c *conn) error {
		return work(c.runner(ctx, &db.options), clock(db.options.Now))
	}))
}
