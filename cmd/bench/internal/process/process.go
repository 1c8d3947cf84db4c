// Package process starts the programs that are measured, and reads what they use: processor time, memory, bytes written
// to disks.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is a running program, in a process group of its own. What it prints goes to a file.
type Process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// Usage is what the processes of a program used since their start.
type Usage struct {
	CPU      time.Duration
	Peak     int64 // bytes of memory, at most
	Written  int64 // bytes written to disks
	Switches int64 // context switches
}

// Add adds what other processes used.
func (u Usage) Add(other Usage) Usage {
	return Usage{
		CPU: u.CPU + other.CPU, Peak: u.Peak + other.Peak, Written: u.Written + other.Written,
		Switches: u.Switches + other.Switches,
	}
}

// Since is what was used since an earlier time; the peak is that of the whole time.
func (u Usage) Since(earlier Usage) Usage {
	return Usage{
		CPU: u.CPU - earlier.CPU, Peak: u.Peak, Written: u.Written - earlier.Written,
		Switches: u.Switches - earlier.Switches,
	}
}

// Held is what a process holds at a moment.
type Held struct {
	Memory  int64 // bytes of its own: without the pages of files
	Files   int   // open descriptors
	Threads int
}

// inherited are the variables that a program gets from the environment of the bench: none that configures it.
var inherited = []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ"}

// Start starts a program with the given variables. What it prints is added to the file log.
func Start(program, env []string, log string) (*Process, error) {
	out, err := os.OpenFile(filepath.Clean(log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the program has its own copy
	cmd := exec.Command(program[0], program[1:]...)
	for _, key := range inherited {
		if value, ok := os.LookupEnv(key); ok {
			cmd.Env = append(cmd.Env, key+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program[0], err)
	}
	p := &Process{cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log, and does not matter here
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the program and what it has started with SIGKILL.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // fails only if there is none any more
	<-p.done
}

// stopTime is how long a program may take to end.
const stopTime = 30 * time.Second

// End asks the program to end by a signal, and kills it after a while.
func (p *Process) End(by syscall.Signal) {
	_ = syscall.Kill(-p.cmd.Process.Pid, by) // fails only if there is none any more
	select {
	case <-p.done:
	case <-time.After(stopTime):
	}
	p.Kill()
}

// PID is the id of the program's first process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Usage returns what the program has used until now. Error: it has ended.
func (p *Process) Usage() (Usage, error) {
	select {
	case <-p.done:
		return Usage{}, errors.New("it has ended")
	default:
		return usageOf(p.cmd.Process.Pid)
	}
}

// Held returns what the program's first process holds now. Error: it has ended.
func (p *Process) Held() (Held, error) {
	select {
	case <-p.done:
		return Held{}, errors.New("it has ended")
	default:
		return heldBy(p.cmd.Process.Pid)
	}
}

// CPU returns the processor time that processes with a name, by their ids, have used until now. Those that are not
// there count nothing: they have ended, or the ids are those of another machine.
func CPU(name string, pids []int) (sum time.Duration) {
	for _, pid := range pids {
		if its, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil ||
			strings.TrimSpace(string(its)) != name {
			continue
		}
		if used, err := cpuOf(pid); err == nil {
			sum += used
		}
	}
	return sum
}

// tailSize is how much of a log is shown.
const tailSize = 2 << 10

// Tail returns the last lines that the program printed.
func (p *Process) Tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	if len(text) > tailSize {
		text = text[len(text)-tailSize:]
	}
	return strings.TrimSpace(string(text))
}
