package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gatehouse/core"
)

// Snapshots of a database are copies of it that were made before a migration, beside it:
//
//	gatehouse.db.v11-20261128T083000Z.snapshot
//
// is gatehouse.db as it was on that day, with schema 11.
const (
	snapshotEnd  = ".snapshot"
	snapshotTime = "20060102T150405Z"
)

// Snapshot is a snapshot of a database.
type Snapshot struct {
	File   string
	Schema int64
	At     time.Time
}

// Snapshots returns those of a file, the newest first.
func Snapshots(file string) ([]Snapshot, error) {
	folder, name := filepath.Split(file)
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, core.Wrap(core.StoreUnreadable, err, "Can't list the snapshots beside the database %s.", file)
	}
	var all []Snapshot
	for _, e := range entries {
		text, ours := strings.CutPrefix(e.Name(), name+".v")
		text, whole := strings.CutSuffix(text, snapshotEnd)
		version, at, cut := strings.Cut(text, "-")
		schema, err := strconv.ParseInt(version, 10, 64)
		when, bad := time.Parse(snapshotTime, at)
		if ours && whole && cut && err == nil && bad == nil {
			all = append(all, Snapshot{filepath.Join(folder, e.Name()), schema, when})
		}
	}
	slices.SortFunc(all, func(a, b Snapshot) int { return b.At.Compare(a.At) })
	return all, nil
}

// snapshotName returns the name of a new snapshot. Of two that are made in one second the later one has the next
// second, so that it is the newer one. The caller holds the lock of migrations.
func snapshotName(file string, schema int64, at time.Time) string {
	for ; ; at = at.Add(time.Second) {
		name := fmt.Sprintf("%s.v%d-%s%s", file, schema, at.UTC().Format(snapshotTime), snapshotEnd)
		if _, err := os.Lstat(name); err != nil {
			return name
		}
	}
}

// snapshot copies a file before its schema is migrated, and returns the name of the copy; "" if none is wanted. A
// database that is marked as restored keeps its mark.
func snapshot(ctx context.Context, file string, schema int64, o Options) (name string, err error) {
	if o.Snapshots <= 0 {
		return "", nil
	}
	if err := roomFor(file); err != nil {
		return "", err
	}
	now := o.Now()
	name = snapshotName(file, schema, now)
	return name, Copy(ctx, file, name, o, Copying{Mark: core.RestoreMark{Taken: now}, Keep: true})
}

// prune removes the oldest snapshots beyond those that are kept.
func prune(file string, kept int) error {
	all, err := Snapshots(file)
	if err != nil {
		return err
	}
	for _, old := range all[min(kept, len(all)):] {
		if err := os.Remove(old.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return core.Wrap(core.StoreUnreadable, err, "Can't remove the old snapshot %s.", old.File)
		}
	}
	return nil
}

// roomFor fails with store_full if a copy of the file would leave too little space beside it.
func roomFor(file string) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(file), &disk); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "The folder of the database %s can't be found.", file)
	}
	free, needed := int64(disk.Bavail)*int64(disk.Bsize), sizeOf(file)+sizeOf(logOf(file))+leastSpace
	if free < needed {
		return core.Errorf(core.StoreFull, "The database %s is not migrated: a snapshot of it is made before, which "+
			"needs %d MiB beside it, and %d MiB are free. Free space there; or make a backup elsewhere, and set "+
			"GATEHOUSE_SNAPSHOTS=0.", file, needed>>20+1, free>>20)
	}
	return nil
}
