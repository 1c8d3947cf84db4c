package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// copyStep is how many pages are copied between two looks at the context.
const copyStep = 1024

// Copying is how a database file is copied.
type Copying struct {
	Mark     core.RestoreMark              // that the copy gets
	Keep     bool                          // a mark that the database has stays as it is
	Progress func(done, of int64)          // nil: nobody looks
	Check    func(s *sqlstore.Store) error // of the copy, whose schema is up to date; nil: none
}

// Copy makes a new file with the database as it is at one moment, while others go on to write. The copy is one file,
// which only its owner may read; it is whole, and marked: whoever serves it settles that first. After a crash there is
// no file, or one named TO.part, which the next call takes away.
//
// A read of the source is open meanwhile, so its log grows by what is written. Errors: invalid if the file exists,
// store_unreadable if the copy is damaged, since the source is, and those of Copying.Check.
func Copy(ctx context.Context, from, to string, o Options, c Copying) error {
	if _, err := os.Lstat(to); err == nil {
		return exists(to)
	}
	part := to + ".part"
	lock, err := createLocked(part)
	if err != nil {
		return core.Wrap(core.StoreUnreadable, err, "Can't create the file %s. Check that gatehouse can write in its "+
			"folder.", to)
	}
	if lock == nil {
		return core.Errorf(core.StoreBusy, "Another process is making %s now. Wait until it has, or name another file.",
			to)
	}
	defer lock.Close()
	defer removeFile(part)
	o = o.Filled(busyTimeout)
	if err := copyPages(ctx, from, part, o, c.Progress); err != nil {
		return translate(from, err)
	}
	if err := finishCopy(ctx, part, o, c); err != nil {
		return err
	}
	return place(part, to)
}

// createLocked creates an empty file that this process alone has, and removes what a dead process has left there. It
// returns nil, nil if another process has the file.
func createLocked(file string) (*os.File, error) {
	for {
		old, err := os.OpenFile(file, os.O_RDWR|unix.O_NOFOLLOW, 0)
		switch {
		case err == nil:
			free, err := lockFile(old, unix.LOCK_EX|unix.LOCK_NB)
			if free && named(old, file) {
				removeFile(file)
			}
			old.Close()
			if err != nil || !free {
				return nil, err
			}
		case !errors.Is(err, fs.ErrNotExist):
			removeFile(file)
		}
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
				return nil, fmt.Errorf("%s is no file", file)
			}
			continue // another process was faster
		}
		if err != nil {
			return nil, err
		}
		free, err := lockFile(f, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && free && named(f, file) {
			return f, nil
		}
		f.Close()
		if err != nil || !free {
			return nil, err
		}
	}
}

// named reports whether the name is that of the open file.
func named(f *os.File, name string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(name)
	return err == nil && os.SameFile(opened, now)
}

func exists(file string) error {
	return core.Errorf(core.Invalid, "%s exists already, and is not overwritten. Name another file, or move it away.",
		file)
}

// copyPages copies one snapshot of a file.
func copyPages(ctx context.Context, from, to string, o Options, progress func(done, of int64)) error {
	src, err := connect(source(from, o, "mode=rw&_query_only=true"))
	if err != nil {
		src, err = connect(source(from, o, "mode=ro")) // on a medium that can't be written
	}
	if err != nil {
		return err
	}
	defer src.close()
	dst, err := connect(source(to, o, "mode=rw"))
	if err != nil {
		return err
	}
	defer dst.close()
	// The snapshot of this transaction is copied; without it the copy would begin anew with each commit.
	if _, err := src.exec("begin", nil); err != nil {
		return err
	}
	if _, err := src.exec("select count(*) from sqlite_master", nil); err != nil {
		return err
	}
	b, err := dst.db.Backup("main", src.db, "main")
	if err != nil {
		return err
	}
	for done := false; !done; {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, b.Close())
		}
		if done, err = b.Step(copyStep); err != nil {
			return errors.Join(err, b.Close())
		}
		if of := b.PageCount(); progress != nil {
			progress(int64(of-b.Remaining()), int64(of))
		}
	}
	return b.Close()
}

// finishCopy marks a copy, and checks it.
func finishCopy(ctx context.Context, file string, o Options, c Copying) error {
	db := open(file, o, "_txlock=immediate")
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := setMark(ctx, db, c.Mark, c.Keep); err != nil {
		return translate(file, err)
	}
	if err := whole(ctx, db, file); err != nil {
		return err
	}
	if c.Check != nil {
		if err := db.Close(); err != nil {
			return translate(file, err)
		}
		s, err := openAsItIs(ctx, file, o)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Check(s), s.Close()); err != nil {
			return err
		}
		db = open(file, o, "_txlock=immediate")
		defer db.Close()
	}
	return translate(file, single(ctx, db))
}

// openAsItIs is Open that does not migrate.
func openAsItIs(ctx context.Context, file string, o Options) (*sqlstore.Store, error) {
	db, err := connected(file, o)
	if err != nil {
		return nil, err
	}
	return db.store(ctx)
}

// setMark marks a database of any schema; see sqlstore.MarkRestored. keep: a mark that it has stays. The builds before
// the first landed schema have no place for one.
func setMark(ctx context.Context, db *sql.DB, m core.RestoreMark, keep bool) error {
	var place int
	err := db.QueryRowContext(ctx, `select count(*) from sqlite_master where name = 'kv'`).Scan(&place)
	if err != nil || place == 0 {
		return err
	}
	then := "update set value = excluded.value"
	if keep {
		then = "nothing"
	}
	text, err := json.Marshal(m)
	if err == nil {
		_, err = db.ExecContext(ctx, `insert into kv (name, value) values ('restored', $1)
			on conflict (name) do `+then, string(text))
	}
	return err
}

// TakenAt returns when a copy was made, as its mark says; zero: it has none.
func TakenAt(ctx context.Context, file string, o Options) (time.Time, error) {
	found, _, err := Version(ctx, file, o)
	if err != nil || found == 0 {
		return time.Time{}, err
	}
	db := open(file, o.Filled(busyTimeout), "_query_only=true")
	defer db.Close()
	var text string
	var m core.RestoreMark
	err = db.QueryRowContext(ctx, `select value from kv where name = 'restored'`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &m)
	}
	return m.Taken, translate(file, err)
}

// whole fails if a file is damaged.
func whole(ctx context.Context, db *sql.DB, file string) error {
	rows, err := db.QueryContext(ctx, `pragma integrity_check(10)`)
	if err != nil {
		return translate(file, err)
	}
	defer rows.Close()
	var faults []string
	for rows.Next() {
		var fault string
		if err := rows.Scan(&fault); err != nil {
			return translate(file, err)
		}
		if fault != "ok" {
			faults = append(faults, fault)
		}
	}
	if err := rows.Err(); err != nil {
		return translate(file, err)
	}
	if len(faults) > 0 {
		return core.Errorf(core.StoreUnreadable, "The database is damaged, so it was not copied: %s. Restore an "+
			"earlier backup, or copy what is left with sqlite3 FILE .recover.", strings.Join(faults, "; "))
	}
	return nil
}

// single moves what the log of a file has into the file, so that the file can be moved alone.
func single(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var mode string
	if err := conn.QueryRowContext(ctx, `pragma journal_mode = delete`).Scan(&mode); err != nil {
		return err
	}
	if mode != "delete" {
		return fmt.Errorf("the file is in use: its journal stays %q", mode)
	}
	return nil
}

// place gives a file its name, which nothing may have.
func place(part, to string) error {
	f, err := os.Open(part)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil {
		err = os.Link(part, to) // a rename would replace a file
	}
	if _, there := os.Lstat(to); err != nil && errors.Is(there, fs.ErrNotExist) { // a file system without links
		err = os.Rename(part, to)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(to)
	case err != nil:
		return core.Wrap(core.StoreUnreadable, err, "Can't create the file %s.", to)
	}
	return syncFolder(to)
}

// syncFolder makes the names in a file's folder durable.
func syncFolder(file string) error {
	d, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeFile removes a file that a copy has left, and those that SQLite keeps beside it.
func removeFile(file string) {
	for _, end := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(file + end) // it is not there, as a rule
	}
}
