//go:build !unix

package mcp

import "os/exec"

// ownGroup does nothing where there are no process groups.
func ownGroup(*exec.Cmd) {}

// termGroup ends the process.
func termGroup(cmd *exec.Cmd) { killGroup(cmd) }

// killGroup ends the process.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it fails if it has ended
