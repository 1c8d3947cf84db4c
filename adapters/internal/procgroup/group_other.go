//go:build !unix

package procgroup

import "os/exec"

// Own does nothing where there are no process groups.
func Own(*exec.Cmd) {}

// Term ends the process.
func Term(cmd *exec.Cmd) { Kill(cmd) }

// Kill ends the process.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it fails if it has ended
