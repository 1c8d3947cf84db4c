//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Own has a process that is not started yet begin a group of its own.
func Own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// exists reports whether there is a process of the group.
func exists(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }

// term asks all processes of the group to end.
func term(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // it fails if there is none

// Kill ends all processes of the group.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
