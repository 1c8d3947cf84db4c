package sqlite

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// maxSlots is the maximum number of processes of one instance name per file.
const maxSlots = 1000

// Register takes the first free slot of the instance's name and releases what its last owner, which is proven dead, had
// claimed. The lock is a separate file next to the database. The file stays there, empty, and means nothing while no
// process holds the lock.
func (db *database) Register(instance string, free func(owner string) error) (string, error) {
	for slot := range maxSlots {
		owner := fmt.Sprintf("%s-%d", instance, slot)
		lock, err := flock(db.file+"."+owner+".lock", unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			return "", core.Wrap(core.StoreUnreadable, err, "Can't create the lock file of the database %s. Check "+
				"that gatehouse can write in its folder.", db.file)
		}
		if lock == nil {
			continue
		}
		if err := free(owner); err != nil {
			lock.Close()
			return "", err
		}
		db.mu.Lock()
		db.locks = append(db.locks, lock)
		db.mu.Unlock()
		return owner, nil
	}
	return "",
		core.Errorf(core.StoreBusy, "More than %d processes named %s use the database %s.", maxSlots, instance, db.file)
}

// flock locks a file. With LOCK_NB it returns nil, nil if another process, or another handle in this one, has the lock.
func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	locked, err := lockFile(f, how)
	if locked {
		return f, nil
	}
	f.Close()
	return nil, err
}

// lockFile locks an open file. With LOCK_NB it returns false if another handle has the lock.
func lockFile(f *os.File, how int) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, fmt.Errorf("locking: %w", err)
		}
	}
}
