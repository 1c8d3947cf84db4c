package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

var errClosed = core.Errorf(core.Internal, "The database is closed: gatehouse is stopping.")

// translate turns a driver's error into a core.Error by SQLite's code; every error that leaves this package passes
// through it once. A core.Error, or an error of the caller's context, is returned as it is.
func translate(file string, err error) error {
	var ours *core.Error
	var theirs sqlite3.Error
	switch {
	case err == nil, errors.As(err, &ours), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &theirs):
		return core.Wrap(core.Internal, err, "Something went wrong with the database %s.", file)
	}
	if theirs.SystemErrno != 0 {
		err = fmt.Errorf("%w (%w)", err, theirs.SystemErrno)
	}
	switch theirs.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return core.Wrap(core.StoreBusy, err,
			"The database %s is locked by another process. Try again; if this continues, look for a backup job or a "+
				"shell that keeps it open.", file)
	case sqlite3.ErrFull:
		return core.Wrap(core.StoreFull, err,
			"There is no space left for the database %s. Free space on its disk; nothing that was stored is lost.",
			file)
	case sqlite3.ErrNotADB:
		return core.Wrap(core.StoreUnreadable, sqlstore.Damage{Err: err},
			"The file %s is not a database. Name another file, or restore the database from a backup.", file)
	case sqlite3.ErrCorrupt:
		return core.Wrap(core.StoreUnreadable, sqlstore.Damage{Err: err},
			"The database %s is damaged. Stop gatehouse and restore it from a backup.", file)
	case sqlite3.ErrCantOpen:
		return core.Wrap(core.StoreUnreadable, err,
			"The database %s can't be opened. Check that its folder exists and that gatehouse can read and "+
				"write in it.", file)
	case sqlite3.ErrPerm, sqlite3.ErrReadonly, sqlite3.ErrAuth:
		return core.Wrap(core.StoreUnreadable, err,
			"gatehouse is not allowed to write to the database %s. Give its user write access to the file and its "+
				"folder.", file)
	case sqlite3.ErrIoErr:
		return core.Wrap(core.StoreUnreadable, err,
			"The disk failed while reading or writing the database %s. Check the disk and the system's log.", file)
	case sqlite3.ErrError, sqlite3.ErrConstraint, sqlite3.ErrMismatch, sqlite3.ErrMisuse, sqlite3.ErrRange,
		sqlite3.ErrTooBig:
		return core.Wrap(core.Internal, err, "Something went wrong with the database %s.", file)
	}
	return core.Wrap(core.StoreBusy, err, // what is not known to fail again is tried again
		"The database %s fails for now (SQLite's code %d). If this continues, look for what the machine lacks.", file,
		theirs.Code)
}
