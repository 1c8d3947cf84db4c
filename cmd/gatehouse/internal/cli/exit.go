package cli

import (
	"errors"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// The exit codes.
const (
	ExitDone     = 0
	ExitBad      = 1 // the thing asked about is bad
	ExitUsage    = 2 // usage or configuration
	ExitNotFound = 3
)

// ErrReported ends a command that has already printed what is wrong. Give it an exit code with Exit.
var ErrReported = errors.New("already reported")

// exitError is an error whose exit code does not follow from its category.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// Exit sets the exit code of an error.
func Exit(code int, err error) error { return &exitError{code, err} }

// Bad makes an error of category invalid exit with 1: the thing asked about is invalid, not the command line.
func Bad(err error) error {
	if err == nil || core.CategoryOf(err) != core.Invalid {
		return err
	}
	return Exit(ExitBad, err)
}

// ExitCode is the exit code of an error.
func ExitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	switch core.CategoryOf(err) {
	case core.Invalid, core.StoreUnreadable, core.StoreGone, core.StoreNewer, core.Unsupported, core.Unauthorized,
		core.ProviderAuthentication:
		return ExitUsage
	case core.NotFound:
		return ExitNotFound
	}
	return ExitBad
}

// Explain is the message of an error and, in parentheses, its cause: the person at the terminal may be able to fix it.
func Explain(err error) string {
	var e *core.Error
	if !errors.As(err, &e) || e.Message == "" {
		return console.Sanitize(err.Error())
	}
	text := e.Message
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return console.Sanitize(text)
}
