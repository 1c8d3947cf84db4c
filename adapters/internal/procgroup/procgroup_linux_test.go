package procgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asKey is what the test binary is when it is started again: process 1 of its own, or a process that gets the children
// of its children.
const asKey = "PROCGROUP_TEST_AS"

func init() {
	var err error
	switch os.Getenv(asKey) {
	case "":
		return
	case "process 1":
		err = asProcess1()
	case "reaper":
		err = asReaper()
	}
	fmt.Println("it ended:", err)
	os.Exit(0)
}

// again runs the test binary as something, and gives what it printed.
func again(t *testing.T, as string, attr *syscall.SysProcAttr) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.SysProcAttr = append(os.Environ(), asKey+"="+as, "DIR="+t.TempDir()), attr
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// until waits for a condition.
func until(what string, holds func() bool) error {
	for end := time.Now().Add(20 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			return errors.New(what + " takes too long")
		}
	}
	return nil
}

// orphan runs a command that leaves a process behind, which goes on until the pipe is opened for writing. It gives the
// process's id.
func orphan(pipe string) (id int, err error) {
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		return 0, err
	}
	var out strings.Builder
	cmd := exec.Command("sh", "-c", `(exec >/dev/null; read x <"$0") & echo $!`, pipe)
	cmd.Stdout = &out
	if err := Run(cmd, nil); err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out.String()))
}

// asProcess1 leaves a process behind and waits until it is gone: a process that has ended is there until somebody waits
// for it.
func asProcess1() error {
	go Reap(context.Background())
	pipe := filepath.Join(os.Getenv("DIR"), "pipe")
	id, err := orphan(pipe)
	if err != nil {
		return err
	}
	fmt.Println("parent", os.Getpid(), "of", syscall.Kill(id, 0))
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_ = f.Close()
	return until("the end of what was left behind", func() bool { return syscall.Kill(id, 0) == syscall.ESRCH })
}

// TestProcess1ReapsWhatIsLeftBehind runs in a real namespace of processes.
func TestProcess1ReapsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	if out := again(t, "process 1", attr); out != "parent 1 of <nil>\nit ended: <nil>\n" {
		t.Error(out)
	}
}

// asReaper reaps all the time while many commands run, each of which leaves a process behind.
func asReaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	done := make(chan struct{})
	var reaping, running sync.WaitGroup
	reaping.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				reap()
			}
		}
	})
	var mu sync.Mutex
	var wrong error
	for worker := range 4 {
		running.Go(func() {
			for n := range 100 {
				status := worker*50 + n%50 + 1
				err := Run(exec.Command("sh", "-c", "true & exit "+strconv.Itoa(status)), nil)
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != status {
					mu.Lock()
					wrong = fmt.Errorf("a command that ends with %d: %w", status, err)
					mu.Unlock()
				}
			}
		})
	}
	running.Wait()
	close(done)
	reaping.Wait()
	if wrong != nil {
		return wrong
	}
	return until("reaping", func() bool {
		reap()
		return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
	})
}

// TestReapingTakesNoStatus: what is started here is left to whoever waits for it.
func TestReapingTakesNoStatus(t *testing.T) {
	t.Parallel()
	if out := again(t, "reaper", nil); out != "it ended: <nil>\n" {
		t.Error(out)
	}
}

// TestOnlyItsOwnThreadEndsAProcess: threads end all the time while commands run.
func TestOnlyItsOwnThreadEndsAProcess(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	var ending, running sync.WaitGroup
	for range 4 {
		ending.Go(func() {
			for {
				var thread sync.WaitGroup
				thread.Go(func() { runtime.LockOSThread() }) // its thread ends with the goroutine
				thread.Wait()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range 8 {
		running.Go(func() {
			for range 8 {
				cmd := exec.Command("sh", "-c", "cat; sleep 0.01")
				cmd.Stdout = &strings.Builder{}
				if err := Run(cmd, []byte("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	close(done)
	ending.Wait()
}

// TestAProcessHasNoTerminal: it leads a session of its own, which has none, whatever terminal gatehouse was started
// from.
func TestAProcessHasNoTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	cmd := exec.Command("sh", "-c",
		`read -r pid name state parent group session rest </proc/$$/stat; echo "$pid $group $session"`)
	cmd.Stdout = &out
	if err := Run(cmd, nil); err != nil {
		t.Fatal(err)
	}
	if ids := strings.Fields(out.String()); len(ids) != 3 || ids[0] != ids[1] || ids[0] != ids[2] {
		t.Errorf("process, group and session: %s", out.String())
	}
}
