package procgroup

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// endWithThread has the system kill a process, which is not started yet, when the thread that starts it ends.
func endWithThread(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// nameless makes a file in memory.
func nameless() (*os.File, error) {
	fd, err := unix.MemfdCreate("input", unix.MFD_CLOEXEC)
	return os.NewFile(uintptr(fd), "input"), err
}

// Reap waits, once a second until ctx ends, for the processes that others have left to process 1. In another process it
// does nothing.
func Reap(ctx context.Context) {
	for tick := time.Tick(time.Second); os.Getpid() == 1 && ctx.Err() == nil; {
		select {
		case <-tick:
			reap()
		case <-ctx.Done():
		}
	}
}

// siginfo is the system's siginfo_t of a child. Its union is aligned as a pointer is.
type siginfo struct {
	_     [3]int32
	union struct {
		_   [0]uintptr
		pid int32
	}
	_ [128]byte
}

// reap waits for the children that have ended and that nobody here has started. It looks before it waits: a process
// that was started here is Wait's, which is about to take it; the others then wait for the next time.
func reap() {
	starting.Lock()
	defer starting.Unlock()
	for {
		var ended siginfo
		err := unix.Waitid(unix.P_ALL, 0, (*unix.Siginfo)(unsafe.Pointer(&ended)),
			unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		pid := int(ended.union.pid)
		if _, ours := started.Load(pid); err != nil || pid == 0 || ours {
			return
		}
		_, _ = unix.Wait4(pid, nil, 0, nil) // it has ended
	}
}
