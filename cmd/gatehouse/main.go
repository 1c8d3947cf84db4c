// Command gatehouse is a gateway between chat platforms and an agent. serve runs it, chat talks to the agent in the
// terminal, the other commands administer it. This is the only package that imports everything.
//
//	commands.go       the command line; help.go explains it, complete.go and completion.go complete it in a shell
//	platforms.go      the list of platforms
//	serve.go, chat.go the two commands that run a gateway
//	signals.go        what signals do
//	shared.go         what the parts share
//	gateway.go        puts the parts together, runs and drains them
//	server.go         the HTTP server
//	internal/settings the environment
//	internal/cli      what commands share: output, exit codes, opening the store
//	internal/admin    the commands that show and change what is stored
//	internal/doctor   the command that checks a set-up
//
// Exit codes: 0 done, 1 the thing asked about is bad, 2 usage or configuration, 3 not found.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // a policy's time zones, also where the machine has none

	"gatehouse/cmd/gatehouse/internal/cli"
)

func main() {
	ctx, stop := untilSignal(context.Background())
	code := run(ctx, os.Args[1:], cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, platforms)
	stop()
	os.Exit(code)
}
