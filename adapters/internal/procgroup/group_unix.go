//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own has a process that is not started yet begin a group of its own, in a session of its own: that has no terminal, so
// a program that asks there, as sudo and ssh do, fails at once. From another group of the same terminal it would be
// stopped until its time is up.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// exists reports whether there is a process of the group.
func exists(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }

// term asks all processes of the group to end.
func term(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it fails if there is none

// Kill ends all processes of the group.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
