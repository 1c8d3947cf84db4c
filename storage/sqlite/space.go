package sqlite

import (
	"os"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// leastSpace is the space, in bytes, that a disk needs to have left: the write-ahead log grows to some 16 MiB before it
// is used again.
const leastSpace = 20 << 20

// Ready fails with store_full if the database's disk is nearly full (small commits may still succeed then, larger ones
// not), and with store_gone if the file or its log is not there any more.
func (db *database) Ready() error {
	if file := db.writer.identity.Load(); file != nil {
		if _, err := file.check(); err != nil {
			return err
		}
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(db.file, &disk); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "The database %s can't be found.", db.file)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < leastSpace {
		return core.Errorf(core.StoreFull,
			"The disk of the database %s is nearly full: %d KiB are left. Free space there.", db.file, free>>10)
	}
	return nil
}

// FileBytes are the sizes of the file and of the write-ahead log beside it.
func (db *database) FileBytes() (database, log int64) { return sizeOf(db.file), sizeOf(logOf(db.file)) }

func sizeOf(file string) int64 {
	about, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return about.Size()
}
