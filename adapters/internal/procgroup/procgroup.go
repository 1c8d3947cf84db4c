// Package procgroup starts a process in a group of its own and ends the group: the process and all that it has started.
// Where the system has no process groups, as Windows, it ends the process alone.
//
// Run starts a process that has its whole input before it begins. Where the system can do it, as Linux, such a process
// ends with gatehouse, however that ends; what it has started itself may go on. Reap waits for what processes have left
// behind, where gatehouse is process 1.
package procgroup

import (
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// started holds the processes that Wait takes: each command by its id. Whoever starts one holds starting until it is in
// there.
var (
	starting sync.RWMutex
	started  sync.Map
)

// Start starts a process. Wait must follow.
func Start(cmd *exec.Cmd) error {
	starting.RLock()
	defer starting.RUnlock()
	err := cmd.Start()
	if err == nil {
		started.Store(cmd.Process.Pid, cmd)
	}
	return err
}

// Wait waits until a process of Start has ended, as cmd.Wait does.
func Wait(cmd *exec.Cmd) error {
	defer started.CompareAndDelete(cmd.Process.Pid, cmd)
	return cmd.Wait()
}

// Run starts a process in a group of its own and waits until it has ended, as cmd.Run does. Its standard input is a
// finished file: a process that begins can read the whole input, whatever becomes of gatehouse. The system ends it with
// the thread that started it, so that thread waits.
func Run(cmd *exec.Cmd, input []byte) error {
	file, err := nameless()
	if err == nil {
		defer file.Close()
		_, err = file.WriteAt(input, 0) // it is read from its beginning
	}
	if err != nil {
		return fmt.Errorf("writing its input: %w", err)
	}
	cmd.Stdin = file
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	Own(cmd)
	endWithThread(cmd)
	if err := Start(cmd); err != nil {
		return err
	}
	return Wait(cmd)
}

// End asks all processes of the group to end, waits for them, and kills those that are left after so long.
func End(cmd *exec.Cmd, within time.Duration) {
	term(cmd)
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(within / 100) {
		if !exists(cmd) {
			return
		}
	}
	Kill(cmd)
}
