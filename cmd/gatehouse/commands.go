package main

import (
	"github.com/alecthomas/kong"

	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/doctor"
	"gatehouse/cmd/gatehouse/internal/hrfcmd"
)

// commands is the command line.
type commands struct {
	Print kong.VersionFlag `name:"version" help:"Print the version."`

	Serve serveCmd `cmd:"" default:"1" help:"Run the gateway until SIGINT or SIGTERM. This is the default command."`
	Chat  chatCmd  `cmd:"" help:"Talk to the agent in this terminal."`

	Doctor   doctor.Command `cmd:"" help:"Check configuration, database and platforms, and say how to fix each fault."`
	Health   healthCmd      `cmd:"" help:"${commands_health}"`
	MCP      mcpCommands    `cmd:"" name:"mcp" help:"${commands_mcp}"`
	Manifest admin.Manifest `cmd:"" help:"Print what the app of a platform needs there."`

	Sessions    admin.Sessions    `cmd:"" help:"List, show, reset, export and delete sessions."`
	Turns       admin.Turns       `cmd:"" help:"List and show turns: each event and its result."`
	Approvals   admin.Approvals   `cmd:"" help:"${commands_approvals}"`
	Deadletters admin.DeadLetters `cmd:"" help:"List, retry and drop what could not be processed or delivered."`

	JoinCheck     admin.JoinCheck     `cmd:"" help:"Check from a turn's evidence that every tool call has its result."`
	MutationCheck admin.MutationCheck `cmd:"" help:"Check from a turn's evidence that a mutation may run."`

	HRF hrfcmd.HRF `cmd:"" help:"Check, run and convert envelopes of the Harmony Response Format."`

	Queue      admin.Queue   `cmd:"" help:"Show queued turns, unsent messages and open approvals."`
	Pause      admin.Pause   `cmd:"" help:"Stop starting new turns, in all processes; messages are kept."`
	Unpause    admin.Unpause `cmd:"" help:"Start new turns again."`
	Migrate    admin.Migrate `cmd:"" help:"Migrate the database to this build's schema version."`
	Config     admin.Config  `cmd:"" help:"Print every setting, its value and its source."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in a shell."`
	Complete   completeCmd   `cmd:"" name:"__complete" hidden:""`

	Help helpCmd `cmd:"" help:"Show the help of gatehouse or of a command, or one of its pages."`
}

// commandHelp are the longer help texts of the commands, by the names that their tags have for them.
var commandHelp = cli.Texts{
	"commands_health": "Ask a running gatehouse serve on this machine whether it is alive, for health checks.",
	"commands_mcp": "Let another agent ask people; list the MCP servers whose tools the agent has, and log in to " +
		"them.",
	"commands_approvals": "List, show and decide approvals; explain the policy; verify proofs; print the audit log.",
	"mcp_serve": "Let another agent ask people: an MCP server on the standard streams, for a running gatehouse " +
		"serve. This is the default command.",
	"mcp_list":       "List the MCP servers of GATEHOUSE_MCP_CONFIG and what each of their tools may do.",
	"mcp_token_file": "A file with the token. Without one, give it as GATEHOUSE_TOKEN.",
}
