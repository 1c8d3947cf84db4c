package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/doctor"
	"gatehouse/cmd/gatehouse/internal/hrfcmd"
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
	app := &cli.App{Stdio: std, Settings: source, OpenStore: openStore}
	drivers := platforms()
	line := commands{Manifest: admin.ManifestsOf(drivers)}
	parser, err := kong.New(&line,
		kong.Name("gatehouse"),
		kong.Description(about),
		kong.ExplicitGroups(commandGroups),
		kong.Vars{"version": versionLine(), "person": core.PlatformsOf(drivers).Example()},
		admin.Help,
		hrfcmd.Help,
		commandHelp,
		kong.Writers(std.Out, std.Err),
		kong.UsageOnError(),
		kong.Exit(func(code int) { panic(exited(code)) }),
		// what the commands may ask for
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.BindTo(std.Out, (*io.Writer)(nil)),
		kong.BindTo(program{source}, (*admin.Agent)(nil)),
		kong.BindTo(program{source}, (*doctor.Program)(nil)),
		kong.Bind(app),
		kong.BindToProvider(app.Store),
	)
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

// program is the program as its commands know it. It reads the configuration whenever it is asked.
type program struct{ settings settings.Source }

// Tools are the tools that the configuration names. They are not run, so they need no store. With faults of the
// configuration there are only the built-in ones.
func (p program) Tools() *tool.Registry {
	cfg, _, _ := p.settings.Read()
	return newTools(cfg, nil)
}

// Editing lets the local admin change the arguments of calls of these tools.
func (p program) Editing(store *storage.Store) (approvals.Editing, error) {
	cfg, _, faults := p.settings.Read()
	if len(faults) > 0 {
		return approvals.Editing{}, settings.Invalid(faults)
	}
	return editing(cfg, store), nil
}

// Agent compiles the configured agent. It is not run.
func (program) Agent(cfg settings.Config, store *storage.Store) (*graph.Graph, error) {
	return newAgent(cfg, store, nil, nil, nil)
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
