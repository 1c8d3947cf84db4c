package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// stdio is what a process talks through.
type stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// exited is the panic by which kong ends after --help.
type exited int

// run is the whole program but for the process around it; it gives the exit code. The environment is the process's own, because
// envconfig reads no other.
func run(ctx context.Context, args []string, std stdio) (code int) {
	defer func() {
		if p := recover(); p != nil {
			done, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = int(done)
		}
	}()
	var cli commands
	parser, err := kong.New(&cli, kong.Name("gatehouse"), kong.Description("A gateway between chat platforms and an agent."),
		kong.Writers(std.Out, std.Err), kong.Exit(func(code int) { panic(exited(code)) }), kong.UsageOnError(),
		kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		panic(err) // the commands are declared wrongly
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(std.Err, "gatehouse: %s; see gatehouse --help\n", console.Clean(err.Error()))
		return codeUsage
	}
	if err := parsed.Run(&app{std: std}); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintf(std.Err, "gatehouse: %s\n", explain(err))
		}
		return exitCode(err)
	}
	return codeDone
}

// The exit codes.
const (
	codeDone     = 0
	codeBad      = 1 // the thing asked about is bad
	codeUsage    = 2 // usage or configuration
	codeNotFound = 3
)

// exitError is an error with an exit code that its category does not tell.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// bad makes what is invalid about a thing asked for, and not about the command line, exit with 1.
func bad(err error) error {
	if err == nil || core.CategoryOf(err) != core.Invalid {
		return err
	}
	return &exitError{codeBad, err}
}

func exitCode(err error) int {
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	switch core.CategoryOf(err) {
	case core.Invalid, core.StoreUnreadable, core.StoreNewer, core.Unsupported, core.Unauthorized, core.ProviderAuthentication:
		return codeUsage
	case core.NotFound:
		return codeNotFound
	}
	return codeBad
}

// explain is the sentence of an error and, for the person at the terminal who may mend it, its cause.
func explain(err error) string {
	var e *core.Error
	if !errors.As(err, &e) || e.Message == "" {
		return console.Clean(err.Error())
	}
	text := e.Message
	if e.Err != nil {
		text += " (" + e.Err.Error() + ")"
	}
	return console.Clean(text)
}
