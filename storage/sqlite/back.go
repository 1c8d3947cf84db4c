package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Since is what a database has got since its snapshot was made.
type Since struct {
	Events    int64 // accepted
	Approvals int64 // requested
	Entries   int64 // of the audit log: decisions and calls
}

// Any reports whether there is anything.
func (s Since) Any() bool { return s != Since{} }

// NewestBefore returns the newest snapshot of a file whose schema is older than the file's. Error: not_found.
func NewestBefore(file string, schema int64) (Snapshot, error) {
	all, err := Snapshots(file)
	if err != nil {
		return Snapshot{}, err
	}
	i := slices.IndexFunc(all, func(s Snapshot) bool { return s.Schema < schema })
	if i < 0 {
		return Snapshot{}, core.Errorf(core.NotFound, "Beside the database %s there is no snapshot from before its "+
			"schema %d. Restore a backup with gatehouse restore, in a place of its own.", file, schema)
	}
	return all[i], nil
}

// SinceSnapshot returns what a database has got since a snapshot. If it was restored since, numbers have leapt.
func SinceSnapshot(ctx context.Context, file string, s Snapshot, o Options) (lost Since, err error) {
	const last = `select coalesce((select seq from sqlite_sequence where name = 'events'), 0),
		coalesce((select seq from sqlite_sequence where name = 'approvals'), 0), (select seq from audit_head)`
	ends := func(file string) (end Since, err error) {
		db := open(file, o.Filled(busyTimeout), "mode=rw&_query_only=true")
		defer db.Close()
		err = db.QueryRowContext(ctx, last).Scan(&end.Events, &end.Approvals, &end.Entries)
		return end, translate(file, err)
	}
	then, err := ends(s.File)
	if err != nil {
		return lost, err
	}
	now, err := ends(file)
	if err != nil {
		return lost, err
	}
	lost = Since{now.Events - then.Events, now.Approvals - then.Approvals, now.Entries - then.Entries}
	if lost.Events >= sqlstore.Leap {
		db := open(file, o.Filled(busyTimeout), "mode=rw&_query_only=true")
		defer db.Close()
		var stored int64
		err = db.QueryRowContext(ctx, `select count(*) from events where seq > $1`, then.Events).Scan(&stored)
		lost.Events = max(stored, lost.Events%sqlstore.Leap)
	}
	return lost, translate(file, err)
}

// MoveBack puts a snapshot in the place of a database, which is kept as a snapshot, too. settle settles the snapshot:
// the build that its schema is of need not know the mark. since is what the database may lose. After a crash the one or
// the other is in place. Errors: store_busy if another process uses it, invalid if it has got more than since.
func MoveBack(
	ctx context.Context, file string, s Snapshot, since Since, o Options, settle func(*sqlstore.Store) error,
) (kept string, err error) {
	o = o.Filled(busyTimeout)
	lock, err := flock(file+".migrate.lock", unix.LOCK_EX)
	if err != nil {
		return "", core.Wrap(core.StoreUnreadable, err, "Can't create the lock file of the database %s. Check that "+
			"gatehouse can write in its folder.", file)
	}
	defer lock.Close()
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", core.Wrap(core.StoreUnreadable, err, "Can't find the database %s.", file)
	}
	part := target + ".back.part"
	removeFile(part)
	defer removeFile(part)
	if err := settled(ctx, s, part, o, settle); err != nil {
		return "", err
	}
	if err := alike(part, target); err != nil {
		return "", core.Wrap(core.StoreUnreadable, err, "Can't give the snapshot the owner and the mode of %s, so it "+
			"stays in place. Run this as its owner.", file)
	}
	schema, _, err := version(ctx, file, o)
	if err == nil {
		err = closed(ctx, file, o)
	}
	if err != nil {
		return "", translate(file, err)
	}
	switch now, err := SinceSnapshot(ctx, file, s, o); {
	case err != nil:
		return "", err
	case now != since:
		return "", core.Errorf(core.Invalid, "The database has accepted more meanwhile, so it stays as it is. Run "+
			"this again.")
	}
	kept, err = keep(file, target, schema, o)
	if err != nil {
		return "", core.Wrap(core.StoreUnreadable, err, "Can't keep the database %s as a snapshot, so it stays in "+
			"place.", file)
	}
	if err := os.Rename(part, target); err != nil {
		return "", core.Wrap(core.StoreUnreadable, errors.Join(err, os.Remove(kept)), "Can't put the snapshot in the "+
			"place of %s.", file)
	}
	if err := syncFolder(target); err != nil {
		return kept, err
	}
	return kept, translate(kept, markKept(ctx, kept, o))
}

// keep gives a database a second name, that of a snapshot: beside the file, or beside what the file links to.
func keep(file, target string, schema int64, o Options) (kept string, err error) {
	kept = snapshotName(file, schema, o.Now())
	if err = os.Link(target, kept); errors.Is(err, unix.EXDEV) {
		kept = snapshotName(target, schema, o.Now())
		err = os.Link(target, kept)
	}
	return kept, err
}

// alike gives a file the owner and the mode of another one.
func alike(file, other string) error {
	info, err := os.Stat(other)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(file, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(file, info.Mode().Perm())
}

// markKept marks a database that has become a snapshot.
func markKept(ctx context.Context, kept string, o Options) error {
	db := open(kept, o, "_txlock=immediate")
	defer db.Close()
	db.SetMaxOpenConns(1)
	return setMark(ctx, db, core.RestoreMark{Taken: o.Now()}, true)
}

// settled makes a file of a snapshot that is settled and has the snapshot's schema.
func settled(ctx context.Context, s Snapshot, file string, o Options, settle func(*sqlstore.Store) error) error {
	if err := createPrivate(file); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "Can't create the file %s.", file)
	}
	if err := copyPages(ctx, s.File, file, o, nil); err != nil {
		return translate(s.File, err)
	}
	db := open(file, o, "_txlock=immediate")
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := whole(ctx, db, s.File); err != nil {
		return err
	}
	if err := setMark(ctx, db, core.RestoreMark{Taken: s.At}, true); err != nil {
		return translate(file, err)
	}
	if err := widen(ctx, db, s.Schema, true); err != nil {
		return translate(file, err)
	}
	if err := db.Close(); err != nil {
		return translate(file, err)
	}
	store, err := openAsItIs(ctx, file, o)
	if err != nil {
		return err
	}
	if err := errors.Join(settle(store), store.Close()); err != nil {
		return err
	}
	db = open(file, o, "_txlock=immediate")
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := widen(ctx, db, s.Schema, false); err != nil {
		return translate(file, err)
	}
	if err := single(ctx, db); err != nil {
		return translate(file, err)
	}
	found, _, err := version(ctx, file, o)
	if err == nil && found != s.Schema {
		err = fmt.Errorf("the snapshot has the schema %d", found)
	}
	return translate(file, err)
}

// closed moves the log of a file into it. It fails while the file is in use, and changes nothing of what is stored.
func closed(ctx context.Context, file string, o Options) error {
	db := open(file, o, "_txlock=immediate")
	defer db.Close()
	db.SetMaxOpenConns(1)
	return single(ctx, db)
}

// later are the columns that the statements of a settling name and that a schema before a version does not have.
var later = []struct {
	schema        int64
	table, column string
	form          string
}{
	{4, "outbox", "delay", "integer not null default 0"},
	{4, "events", "delay", "integer not null default 0"},
	{4, "queues", "delay", "integer"},
	{4, "destinations", "delay", "integer"},
	{5, "messages", "kept", "text not null default ''"},
	{7, "intents", "progress", "text not null default ''"},
	{8, "events", "fetched", "text not null default ''"},
}

// readersFrom is the first schema with the table readers.
const readersFrom = 9

// widen adds what an earlier schema lacks for a settling, or takes it away again.
func widen(ctx context.Context, db *sql.DB, schema int64, add bool) error {
	var all []string
	for _, c := range later {
		switch {
		case schema >= c.schema:
		case add:
			all = append(all, fmt.Sprintf("alter table %s add column %s %s", c.table, c.column, c.form))
		default:
			all = append(all, fmt.Sprintf("alter table %s drop column %s", c.table, c.column))
		}
	}
	switch {
	case schema >= readersFrom:
	case add:
		all = append(all, "create table readers (approval integer, open integer)")
	default:
		all = append(all, "drop table readers")
	}
	for _, change := range all {
		if _, err := db.ExecContext(ctx, change); err != nil {
			return fmt.Errorf("running %q: %w", change, err)
		}
	}
	return nil
}
