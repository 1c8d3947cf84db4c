package main

import (
	"github.com/alecthomas/kong"

	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/backup"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/doctor"
	"gatehouse/cmd/gatehouse/internal/hrfcmd"
	"gatehouse/cmd/gatehouse/internal/people"
)

// commands is the command line.
type commands struct {
	Print kong.VersionFlag `name:"version" help:"Print the version."`

	Serve serveCmd `cmd:"" group:"start" default:"1" help:"Run the gateway until SIGINT or SIGTERM. This is the default command."`
	Chat  chatCmd  `cmd:"" group:"start" help:"Talk to the agent in this terminal."`

	Doctor   doctor.Command `cmd:"" group:"start" help:"${commands_doctor}"`
	Health   healthCmd      `cmd:"" group:"look" help:"${commands_health}"`
	MCP      mcpCommands    `cmd:"" group:"start" name:"mcp" help:"${commands_mcp}"`
	Manifest admin.Manifest `cmd:"" group:"start" help:"Print what the app of a platform needs there."`

	Sessions    admin.Sessions    `cmd:"" group:"look" help:"List, show, reset, export and delete sessions."`
	Turns       admin.Turns       `cmd:"" group:"look" help:"List and show turns: each event and its result."`
	Approvals   admin.Approvals   `cmd:"" group:"decide" help:"${commands_approvals}"`
	Deadletters admin.DeadLetters `cmd:"" group:"operate" help:"${commands_deadletters}"`

	JoinCheck     admin.JoinCheck     `cmd:"" group:"look" help:"${commands_joincheck}"`
	MutationCheck admin.MutationCheck `cmd:"" group:"look" help:"Check from a turn's evidence that a mutation may run."`

	HRF hrfcmd.HRF `cmd:"" group:"look" help:"Check, run and convert envelopes of the Harmony Response Format."`

	People     people.Commands `cmd:"" group:"operate" help:"Export or erase everything that is kept of a person."`
	Queue      admin.Queue     `cmd:"" group:"look" help:"Show queued turns, unsent messages and open approvals."`
	Pause      admin.Pause     `cmd:"" group:"operate" help:"${commands_pause}"`
	Unpause    admin.Unpause   `cmd:"" group:"operate" help:"Start new turns again."`
	Migrate    admin.Migrate   `cmd:"" group:"operate" help:"Migrate the database to this build's schema version."`
	Backup     backup.Backup   `cmd:"" group:"operate" help:"Copy the database into a file while it is in use."`
	Restore    backup.Restore  `cmd:"" group:"operate" help:"Put a backup in the place of a database that is not there."`
	Config     admin.Config    `cmd:"" group:"start" help:"Print every setting, its value and its source."`
	Version    versionCmd      `cmd:"" group:"look" help:"Print the version."`
	Completion completionCmd   `cmd:"" group:"start" help:"Print a script that completes commands in a shell."`
	Complete   completeCmd     `cmd:"" name:"__complete" hidden:""`

	Help helpCmd `cmd:"" group:"look" help:"Show the help of gatehouse or of a command, or one of its pages."`
}

// about is what gatehouse help begins with.
const about = "A gateway between chat platforms and an agent.\n\nWhile gatehouse serve runs, its web pages are at " +
	"http://127.0.0.1:8080, or where GATEHOUSE_LISTEN says. Settings are variables of the environment: gatehouse " +
	"config prints each with its value, and gatehouse help cmd/gatehouse#settings says what they do."

// commandGroups are the headings of the commands, in order.
var commandGroups = []kong.Group{
	{Key: "start", Title: "Start"},
	{Key: "look", Title: "Look"},
	{Key: "decide", Title: "Decide"},
	{Key: "operate", Title: "Operate"},
}

// commandHelp are the longer help texts of the commands, by the names that their tags have for them.
var commandHelp = cli.Texts{
	"commands_doctor":      "Check configuration, database and platforms, and say how to fix each fault.",
	"commands_deadletters": "List, retry and drop what could not be processed or delivered.",
	"commands_joincheck":   "Check from a turn's evidence that every tool call has its result.",
	"commands_pause":       "Stop starting new turns, in all processes; messages are kept.",
	"commands_health":      "Ask a running gatehouse serve on this machine whether it is alive, for health checks.",
	"commands_mcp": "Let another agent ask people; list the MCP servers whose tools the agent has, and log in to " +
		"them.",
	"commands_approvals": "List, show and decide approvals; explain the policy; verify proofs; print the audit log.",
	"mcp_serve": "Let another agent ask people: an MCP server on the standard streams, for a running gatehouse " +
		"serve. This is the default command.",
	"mcp_list": "List the MCP servers of GATEHOUSE_MCP_CONFIG and what each of their tools may do.",
	"mcp_url": "Where gatehouse serve runs, such as https://chat.example.com/bot. Not given: GATEHOUSE_SERVER, then " +
		"GATEHOUSE_URL, then this machine at GATEHOUSE_LISTEN.",
	"mcp_token_file": "A file with the token. Without one, give it as GATEHOUSE_TOKEN.",
}
