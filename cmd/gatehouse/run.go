package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// exited is the panic by which kong ends the program after --help.
type exited int

// run is the whole program with these platforms; it returns the exit code. It reads the process's environment, because
// envconfig reads no other.
func run(ctx context.Context, args []string, std cli.Stdio, platforms func() []core.Driver) (code int) {
	defer func() {
		if p := recover(); p != nil {
			done, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = int(done)
		}
	}()
	source := settings.Source{Platforms: platforms, Vendors: modelVendors}
	app := &cli.App{Stdio: std, Settings: source, OpenStore: openStore, Secret: secretOf(source)}
	drivers := platforms()
	line := commands{Manifest: admin.ManifestsOf(drivers)}
	line.Doctor.Agent = func(cfg settings.Config, store *storage.Store) (*graph.Graph, error) {
		return newAgent(cfg, store, nil, nil, nil)
	}
	line.Doctor.Turns = turnsOf
	line.Doctor.Tools = func(cfg settings.Config) *tool.Registry { return newTools(cfg, nil) }
	line.Approvals.Explain.Tools = func() *tool.Registry { return commandTools(source) }
	line.Approvals.Test.Tools = line.Approvals.Explain.Tools
	line.Approvals.Edit.Editing = func(store *storage.Store) (approvals.Editing, error) {
		cfg, _, faults := source.Read()
		if len(faults) > 0 {
			return approvals.Editing{},
				core.Errorf(core.Invalid, "The configuration is invalid:\n  %s", strings.Join(faults, "\n  "))
		}
		return editing(cfg, store), nil
	}
	parser, err := kong.New(&line, kong.Name("gatehouse"),
		kong.Description("A gateway between chat platforms and an agent."),
		kong.Writers(std.Out, std.Err), kong.Exit(func(code int) { panic(exited(code)) }), kong.UsageOnError(),
		kong.Vars{"version": versionLine(), "person": core.PlatformsOf(drivers).Example()},
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(std.Out, (*io.Writer)(nil)), kong.Bind(app),
		kong.BindToProvider(app.Store))
	if err != nil {
		panic(err) // the commands are declared wrongly
	}
	parsed, err := parser.Parse(args)
	if err = unreadable(err); err == nil {
		err = parsed.Run()
	}
	if closing := app.Close(); err == nil {
		err = closing
	}
	if err != nil {
		if !errors.Is(err, cli.ErrReported) {
			fmt.Fprintf(std.Err, "gatehouse: %s\n", cli.Explain(err))
		}
		return cli.ExitCode(err)
	}
	return cli.ExitDone
}

// unreadable is the error of a command line that can't be parsed, with a pointer to the help; nil for nil.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return core.Errorf(core.Invalid, "%s; see gatehouse --help", err.Error())
}

// openStore opens the database that a URL names. A variable, so that tests can wrap the store.
var openStore cli.OpenStore = storage.Open
