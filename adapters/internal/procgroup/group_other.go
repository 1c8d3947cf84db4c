//go:build !unix

package procgroup

import "os/exec"

// Own does nothing where there are no process groups.
func Own(*exec.Cmd) {}

func exists(*exec.Cmd) bool { return false }

// term ends the process.
func term(cmd *exec.Cmd) { Kill(cmd) }

// Kill ends the process.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it fails if it has ended
