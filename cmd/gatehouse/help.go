package main

import (
	"context"

	"github.com/alecthomas/kong"
)

// helpCmd is gatehouse help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command, such as approvals approve. None: all commands."`
}

// Run prints what --help prints after the same command, and fails as that does if there is no such command.
func (c helpCmd) Run(_ context.Context, parsed *kong.Context) error {
	_, err := parsed.Parse(append(c.Command, "--help")) // a valid one ends the program
	return unreadable(err)
}
