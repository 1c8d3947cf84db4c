package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// readOnlyKey is the variable with the only folder that a child may write to. The child remounts everything else
// read-only.
const readOnlyKey = "TEST_READONLY_BUT"

// Package variables are initialized before init functions run, and so before the child runs the program.
var _ = func() error {
	folder := os.Getenv(readOnlyKey)
	if folder == "" {
		return nil
	}
	if err := readOnlyBut(folder); err != nil {
		fmt.Fprintln(os.Stderr, "a read-only file system:", err)
		os.Exit(1)
	}
	if os.Getenv(childKey) == "" { // this process only tests whether remounting works
		os.Exit(0)
	}
	return nil
}()

// readOnlyBut makes every mount read-only except one folder. The process must have its own mount namespace.
func readOnlyBut(folder string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	if err := unix.Mount(folder, folder, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", folder, err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD,
		"/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("remounting everything: %w", err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, folder, 0,
		&unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("remounting %s: %w", folder, err)
	}
	for _, elsewhere := range []string{os.TempDir(), "/tmp", "/var/tmp", "."} {
		if f, err := os.CreateTemp(elsewhere, ""); !errors.Is(err, unix.EROFS) && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("making a file in %s: %v, %w, want EROFS", elsewhere, f, err)
		}
	}
	return nil
}

// mountNamespace starts a process in its own mount namespace. A user other than root also needs a user namespace.
func mountNamespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// TestReadOnlyRoot runs the program with a file system that is read-only except for the database's folder, as with
// Kubernetes' readOnlyRootFilesystem and docker run --read-only. With messages of this length SQLite would use a
// temporary file for savepoints.
func TestReadOnlyRoot(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_AGENT=echo")
	folder := filepath.Dir(strings.TrimPrefix(w.url, "sqlite:"))
	w.env, w.attr = append(w.env, readOnlyKey+"="+folder), mountNamespace()

	probe := exec.Command(os.Args[0])
	probe.Env, probe.SysProcAttr = append(os.Environ(), w.env...), w.attr
	if said, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no process can have a read-only file system here: %v\n%s", err, said)
	}

	const messages, size = 40, 1_000
	c := w.start(nil, "chat")
	for n := range messages {
		c.typeLine(fmt.Sprintf("message %d %s", n, strings.Repeat("long ", size/5)))
	}
	c.ok(t)
	for n := range messages {
		if answer := fmt.Sprintf("message %d ", n); !strings.Contains(c.out.String(), answer) {
			t.Errorf("%q is not answered", answer)
		}
	}
}
