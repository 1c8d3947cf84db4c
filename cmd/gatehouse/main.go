// Command gatehouse is a gateway between chat platforms and an agent. serve runs it, chat talks to the agent in the
// terminal, the other commands administer it. This is the only package that imports everything.
//
//	run.go            the program; commands.go its command line, with mcp.go, health.go, help.go, completion.go
//	serve.go, chat.go the two commands that run a gateway
//	shared.go         approvals, and the rest that the parts share
//	gateway.go        puts the parts together, runs and drains them
//	agent.go          the agent, with its tools; model.go, prompt.go and script.go are what answers in it
//	mcpservers.go     the MCP servers whose tools it has
//	platforms.go      the list of platforms, and how they are opened
//	httpserver.go     the HTTP server, with readyz.go, metrics.go, webpages.go and agentsapi.go
//	signals.go        what signals do
//	internal/manual   the rooms' pages as text, for help.go
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
