package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// checkLog refuses a file that is missing, empty or has no tables of gatehouse, beside the write-ahead log of another
// one. SQLite would delete that log, or mix it with the file, and what it holds would be lost.
func checkLog(ctx context.Context, file string, o Options) error {
	size, checkpoints, err := readLog(logOf(file))
	if err != nil {
		return core.Wrap(core.StoreUnreadable, err,
			"Can't read %s-wal, the write-ahead log of the database. Check that gatehouse can read and write in its "+
				"folder.", file)
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && size > 0:
		return leftBehind(file, "is missing")
	case err == nil && info.Size() == 0 && size > 0:
		return leftBehind(file, "is empty")
	case err != nil || info.Size() == 0 || checkpoints == 0: // before the first checkpoint, the log may hold the tables
		return nil
	}
	// Only the file itself is read, without the log.
	db := open(file, o, "immutable=1&mode=ro")
	defer db.Close()
	var tables int
	if err := db.QueryRowContext(ctx, `select count(*) from sqlite_master
		where name = 'goose_db_version'`).Scan(&tables); err == nil && tables == 0 {
		return leftBehind(file, "has no tables of gatehouse")
	}
	return nil // a file that can't be read has an error of its own
}

// logOf is the write-ahead log of a file. SQLite keeps it beside the file itself, not beside a link to it.
func logOf(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	return file + "-wal"
}

func leftBehind(file, what string) error {
	return core.Errorf(core.StoreUnreadable,
		"The database %s %s, but its write-ahead log %s-wal holds data: the file was removed or replaced. Put the "+
			"right file back beside the log, or restore both from a backup. To begin with a new database and lose "+
			"the log's data, move the log away.", file, what, file)
}

// Where the header of a write-ahead log has its number of checkpoints, four bytes, the highest first.
const checkpointsAt, headerLength = 12, 32

// readLog returns the size of a write-ahead log, and how often it was checkpointed and begun again; 0 if it is missing.
func readLog(name string) (size int64, checkpoints uint32, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	header := make([]byte, headerLength)
	if _, err := io.ReadFull(f, header); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return info.Size(), 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	return info.Size(), binary.BigEndian.Uint32(header[checkpointsAt:]), nil
}

// identity is the file that was opened and its write-ahead log, to tell them from others at their places.
type identity struct {
	file, logName string
	opened, log   os.FileInfo
}

// identify returns the identity of a file that a connection has just opened: so its log is there.
func identify(file string) (i *identity, err error) {
	i = &identity{file: file, logName: logOf(file)}
	if i.opened, err = os.Stat(file); err != nil {
		return nil, err
	}
	i.log, err = os.Stat(i.logName)
	return i, err
}

// check fails if the file or its log is no longer the one that was opened, and returns the log's size. A commit to a
// removed file would succeed and be lost; one to a removed log would be lost with the process.
func (i *identity) check() (logSize int64, err error) {
	now, err := os.Stat(i.file)
	if err != nil || !os.SameFile(i.opened, now) {
		return 0, core.Wrap(core.StoreGone, err,
			"The database %s was removed or replaced while gatehouse uses it, so nothing can be stored. Put the file "+
				"back; or stop gatehouse, and start it on the file that is to be used.", i.file)
	}
	log, err := os.Stat(i.logName)
	if err != nil || !os.SameFile(i.log, log) {
		return 0, core.Wrap(core.StoreGone, errors.Join(errLogGone, err),
			"The write-ahead log %s was removed or replaced while gatehouse uses it, so nothing can be stored: it "+
				"would be lost. Stop gatehouse, and start it again.", i.logName)
	}
	return log.Size(), nil
}

// errLogGone marks that the file is there, and its log is not.
var errLogGone = errors.New("the file's log is not there")

// Faults returns what SQLite finds wrong with the file; nothing if it is whole.
func (db *database) Faults(t *sqlstore.Tx) ([]string, error) {
	found, err := t.Texts(`pragma quick_check(10)`)
	if slices.Equal(found, []string{"ok"}) {
		found = nil
	}
	return found, err
}
