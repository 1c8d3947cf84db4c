package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Source is a database file from which everything is copied. Nobody else changes it until the source is closed: it
// holds the lock of the one who writes.
type Source struct {
	file string
	db   *sql.DB
	conn *sql.Conn
}

// OpenSource begins to read the file. It fails with not_found if there is no database, with invalid if its schema is
// an earlier one, and with store_busy if a gateway runs on it.
//
// A gateway takes the lock of its owner name before its first write. So one whose lock is not seen here has written
// nothing, and can't until the source is closed; by then the file says that it was moved.
func OpenSource(ctx context.Context, file string, o Options) (*Source, error) {
	found, known, err := Version(ctx, file, o)
	switch {
	case err != nil:
		return nil, err
	case found == 0:
		return nil, core.Errorf(core.NotFound, "There is no gatehouse database at %s.", file)
	case found < known:
		return nil, core.Errorf(core.Invalid, "The database %s has schema version %d, this build needs %d. Bring it "+
			"up to date first: GATEHOUSE_DATABASE_URL=sqlite:%s gatehouse migrate.", file, found, known, file)
	}
	s := &Source{file: file, db: open(file, o.Filled(busyTimeout), "mode=rw&_journal_mode=WAL")}
	if s.conn, err = s.db.Conn(ctx); err == nil {
		_, err = s.conn.ExecContext(ctx, `begin immediate`)
	}
	if err == nil {
		err = s.used()
	}
	if err != nil {
		return nil, errors.Join(translate(file, err), s.Close())
	}
	return s, nil
}

// used fails if a process holds the lock of an owner name.
func (s *Source) used() error {
	locks, err := filepath.Glob(glob.Replace(s.file) + ".*.lock")
	if err != nil {
		return fmt.Errorf("looking for locks: %w", err)
	}
	for _, name := range locks {
		lock, err := flock(name, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			return core.Wrap(core.StoreUnreadable, err, "Can't open %s, a lock file of the database. Check that "+
				"gatehouse can read and write in its folder.", name)
		}
		if lock == nil {
			owner := strings.TrimSuffix(strings.TrimPrefix(name, s.file+"."), ".lock")
			return core.Errorf(core.StoreBusy, "The process %s uses the database %s. Stop every gatehouse serve and "+
				"gatehouse chat on it, and try again.", owner, s.file)
		}
		if err := lock.Close(); err != nil {
			return fmt.Errorf("releasing a lock: %w", err)
		}
	}
	return nil
}

// glob escapes what a pattern of file names has a meaning for.
var glob = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// Close gives up what was not committed.
func (s *Source) Close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	return translate(s.file, errors.Join(err, s.db.Close()))
}

// Count returns the number of rows of a table; 0 if there is no such table.
func (s *Source) Count(ctx context.Context, table string) (n int64, err error) {
	if has, err := s.has(ctx, table); err != nil || !has {
		return 0, err
	}
	err = s.conn.QueryRowContext(ctx, `select count(*) from `+table).Scan(&n)
	return n, translate(s.file, err)
}

func (s *Source) has(ctx context.Context, table string) (has bool, err error) {
	err = s.conn.QueryRowContext(ctx, `select count(*) from sqlite_master where type = 'table' and name = $1`,
		table).Scan(&has)
	return has, translate(s.file, err)
}

// Rows are those of a table.
type Rows struct {
	file, table string
	rows        *sql.Rows // nil: there are none
	columns     int
}

// Rows reads a table with these columns, in the order in which its rows lie there; there are none if there is no such
// table.
func (s *Source) Rows(ctx context.Context, table string, columns []string) (*Rows, error) {
	r := &Rows{file: s.file, table: table, columns: len(columns)}
	has, err := s.has(ctx, table)
	if err != nil || !has {
		return r, err
	}
	//nolint:rowserrcheck // Next does
	r.rows, err = s.conn.QueryContext(ctx, `select `+strings.Join(columns, ", ")+` from `+table)
	if err != nil {
		return nil, translate(s.file, fmt.Errorf("reading %s: %w", table, err))
	}
	return r, nil
}

// Next returns the next row's values, each an int64, string, []byte or nil; nil: there are no more.
func (r *Rows) Next() ([]any, error) {
	if r.rows == nil {
		return nil, nil
	}
	if !r.rows.Next() {
		return nil, translate(r.file, r.rows.Err())
	}
	values, into := make([]any, r.columns), make([]any, r.columns)
	for i := range values {
		into[i] = &values[i]
	}
	if err := r.rows.Scan(into...); err != nil {
		return nil, translate(r.file, fmt.Errorf("reading %s: %w", r.table, err))
	}
	return values, nil
}

// Close ends the reading.
func (r *Rows) Close() error {
	if r.rows == nil {
		return nil
	}
	return translate(r.file, r.rows.Close())
}

// Last returns the highest number that a numbering column of a table ever had; 0 if it had none.
func (s *Source) Last(ctx context.Context, table, column string) (n int64, err error) {
	err = s.conn.QueryRowContext(ctx, `select max(coalesce((select max(`+column+`) from `+table+`), 0),
		coalesce((select seq from sqlite_sequence where name = $1), 0))`, table).Scan(&n)
	return n, translate(s.file, err)
}

// Moved returns what the file says of a move; nil: nothing.
func (s *Source) Moved(ctx context.Context) (*sqlstore.Moved, error) {
	var text string
	err := s.conn.QueryRowContext(ctx, `select value from kv where name = $1`, sqlstore.MovedName).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, translate(s.file, err)
	}
	return sqlstore.ReadMoved(text)
}

// Mark has the file say that it is moved; nil: that it is not. It is committed, and others may write again.
func (s *Source) Mark(ctx context.Context, m *sqlstore.Moved) error {
	var err error
	if m == nil {
		_, err = s.conn.ExecContext(ctx, `delete from kv where name = $1`, sqlstore.MovedName)
	} else {
		text, _ := json.Marshal(m) // it has texts and a time only
		_, err = s.conn.ExecContext(ctx, `insert into kv (name, value) values ($1, $2)
			on conflict (name) do update set value = excluded.value`, sqlstore.MovedName, string(text))
	}
	var open bool
	if err == nil {
		err = s.conn.Raw(func(c any) error {
			open = !c.(interface{ AutoCommit() bool }).AutoCommit()
			return nil
		})
	}
	if err == nil && open {
		_, err = s.conn.ExecContext(ctx, `commit`)
	}
	if err != nil {
		return translate(s.file, fmt.Errorf("noting the move: %w", err))
	}
	return nil
}
