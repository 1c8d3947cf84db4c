package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// maxSlots is how many processes of one instance name a file can have.
const maxSlots = 1000

// Register takes the first free slot of the instance's name and frees what its last owner, now proven dead, had leased. The lock is
// a file of its own beside the database; it stays there, empty, and means nothing while nobody holds it.
func (s *Store) Register(ctx context.Context, instance string) (string, error) {
	name := sanitize(instance)
	for slot := range maxSlots {
		owner := fmt.Sprintf("%s-%d", name, slot)
		lock, err := tryLock(s.file + "." + owner + ".lock")
		if err != nil {
			return "", core.Wrap(core.StoreUnreadable, err, "A lock file beside the database %s can't be made. Check that gatehouse may write in its folder.", s.file)
		}
		if lock == nil {
			continue
		}
		if err := s.write(ctx, func(t *tx) error { return t.release(owner) }); err != nil {
			lock.Close()
			return "", err
		}
		s.mu.Lock()
		s.locks = append(s.locks, lock)
		s.mu.Unlock()
		return owner, nil
	}
	return "", core.Errorf(core.StoreBusy, "More than %d processes named %s use the database %s.", maxSlots, name, s.file)
}

// sanitize keeps what is safe in a file's name.
func sanitize(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	if safe == "" {
		return "gatehouse"
	}
	return safe[:min(len(safe), 60)]
}

// tryLock gives nil, nil where another process, or another opening in this one, has the lock.
func tryLock(path string) (*os.File, error) {
	return flock(path, unix.LOCK_EX|unix.LOCK_NB)
}

func flock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("locking: %w", err)
}

// release frees the conversations and the outbox rows that a dead owner held. The conversation's event stays named: the next claim puts out its
// working state.
func (t *tx) release(owner string) error {
	queues, err := t.texts(`select queue from queues where owner = ? and owner <> ''`, owner)
	if err != nil {
		return err
	}
	for _, q := range queues {
		if _, err := t.exec(`update queues set owner = '', lease_until = 0 where queue = ?`, q); err != nil {
			return err
		}
		if err := t.ready(core.QueueKey(q)); err != nil {
			return err
		}
	}
	destinations, err := t.texts(`select distinct destination from outbox where owner = ? and owner <> ''`, owner)
	if err != nil {
		return err
	}
	if _, err := t.exec(`update outbox set owner = '', lease_until = 0 where owner = ? and owner <> ''`, owner); err != nil {
		return err
	}
	for _, d := range destinations {
		if err := t.due(d); err != nil {
			return err
		}
	}
	return nil
}
