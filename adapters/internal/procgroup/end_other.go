//go:build !linux

package procgroup

import (
	"context"
	"os"
	"os/exec"
)

// endWithThread does nothing where a process can't be made to end with another.
func endWithThread(*exec.Cmd) {}

// nameless makes a temporary file whose name is gone.
func nameless() (*os.File, error) {
	f, err := os.CreateTemp("", "gatehouse-")
	if err == nil {
		err = os.Remove(f.Name())
	}
	return f, err
}

// Reap does nothing where gatehouse is not process 1.
func Reap(context.Context) {}
