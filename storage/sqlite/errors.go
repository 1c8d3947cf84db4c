package sqlite

import (
	"context"
	"errors"

	"github.com/mattn/go-sqlite3"

	"gatehouse/core"
)

var errClosed = core.Errorf(core.Internal, "The database is closed: gatehouse is stopping.")

// translate turns what the driver reports into a core.Error, once, at the edge of this room, by SQLite's codes. What is one
// already, or says that the caller has left, passes as it is.
func translate(file string, err error) error {
	var ours *core.Error
	var theirs sqlite3.Error
	switch {
	case err == nil, errors.As(err, &ours), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case !errors.As(err, &theirs):
		return core.Wrap(core.Internal, err, "Something went wrong with the database %s.", file)
	}
	switch theirs.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return core.Wrap(core.StoreBusy, err, "The database %s is in use by another process that does not let go. Try again; if it stays so, look for a backup or a shell that holds it open.", file)
	case sqlite3.ErrFull:
		return core.Wrap(core.StoreFull, err, "There is no space left for the database %s. Free some on its disk; nothing that was stored is lost.", file)
	case sqlite3.ErrNotADB:
		return core.Wrap(core.StoreUnreadable, err, "The file %s is not a database. Name another file, or put the right one back from a backup.", file)
	case sqlite3.ErrCorrupt:
		return core.Wrap(core.StoreUnreadable, err, "The database %s is damaged. Stop gatehouse and put it back from a backup.", file)
	case sqlite3.ErrCantOpen:
		return core.Wrap(core.StoreUnreadable, err, "The database %s can't be opened. Check that its folder exists and that gatehouse may read and write there.", file)
	case sqlite3.ErrPerm, sqlite3.ErrReadonly, sqlite3.ErrAuth:
		return core.Wrap(core.StoreUnreadable, err, "The database %s may not be written. Give gatehouse's user the right to write the file and its folder.", file)
	case sqlite3.ErrIoErr:
		return core.Wrap(core.StoreUnreadable, err, "The disk failed while reading or writing the database %s. Check the disk and the system's log.", file)
	}
	return core.Wrap(core.Internal, err, "Something went wrong with the database %s.", file)
}
