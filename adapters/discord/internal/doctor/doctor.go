// Package doctor makes the Discord checks of gatehouse doctor, and defines which permissions the bot needs.
//
//	doctor.go        what is checked, in which order; the latest event; how a check asks and reports
//	application.go   the token, the intents, interactions, identifies, commands
//	servers.go       the servers that the bot is in
//	channels.go      the channels and threads that the bot was addressed in
//	approvers.go     the approvers
//	missed.go        what was not fetched after a gap
//	permissions.go   the permissions that the bot needs, has and lacks; its invitation
//
// The checks ask Discord. They change nothing, there or here, and their reports contain no secret.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Options configure the checks.
type Options struct {
	core.Checkup
	REST      *rest.Client
	APIURL    string // DISCORD_API_URL
	PublicKey string // DISCORD_PUBLIC_KEY
	Shards    int    // DISCORD_SHARDS
	Threads   bool   // a mention opens a thread
	FollowUp  bool   // a conversation in a thread needs no further mentions
	Path      string // where Discord posts interactions to
	Commands  Commands
	Latest    core.EventFilter // the latest events
}

// Commands are the commands of this build.
type Commands interface {
	// Listed reports whether they are among those that Discord lists.
	Listed(all json.RawMessage) bool
}

// checks is the state of a run.
type checks struct {
	Options
	outbound.Report
	recent    []core.EventRecord
	recentErr error
	me        discordgo.User
	app       rest.Application
	guilds    []discordgo.UserGuild
	servers   []server // those of guilds that were checked
}

func (c *checks) get(ctx context.Context, endpoint string, answer any) error {
	return c.REST.Get(ctx, endpoint, answer)
}

// page returns the address of a page of the application's settings, or of the list of applications if the application
// is not known.
func (c *checks) page(name string) string {
	const all = "https://discord.com/developers/applications"
	if !snowflake.Valid(c.app.ID) {
		return all
	}
	return all + "/" + c.app.ID + "/" + name
}

// unanswered reports whether err is an error, and if so adds a check that says that Discord did not answer.
func (c *checks) unanswered(name string, err error) bool {
	refusal := ""
	if r, ok := errors.AsType[*rest.Refusal](err); ok && r.Code != 0 {
		refusal = fmt.Sprintf("%s (%d)", r.Message, r.Code)
	}
	return c.Unanswered(name, err, refusal, "Run gatehouse doctor again. If the problem stays, invite the bot again.")
}

// plain makes a name from Discord safe for a terminal.
func plain(s string) string {
	return safetext.OrNone(safetext.Name(safetext.Clean(s)))
}

// server has what determines the bot's permissions in a server.
type server struct {
	discordgo.UserGuild
	member   discordgo.Member // the bot's own
	roles    []guilds.Role
	channels []discordgo.Channel // those that the bot sees: Discord lists no others
}

// Run makes the checks. Without a valid token it makes only those that need no call to Discord.
func Run(ctx context.Context, o Options) []core.Check {
	c := &checks{Options: o, Report: outbound.Report{
		Platform: "discord", Title: "Discord", URL: o.APIURL, URLKey: "DISCORD_API_URL",
		StatusURL: "https://discordstatus.com",
	}}
	if o.Inbox != nil {
		c.recent, c.recentErr = o.Inbox.Events(ctx, o.Latest)
	}
	valid := c.token(ctx)
	if valid {
		c.Clock(c.REST.Clock())
		c.content()
		c.interactions()
		c.gateway(ctx)
		c.commands(ctx)
		c.allServers(ctx)
	}
	c.events()
	c.missedMessages(ctx)
	if valid {
		c.approvers(ctx)
	}
	return c.Checks
}

// freshEvent is the age up to which the last event needs no warning.
const freshEvent = time.Hour

// events reports when the last event came from Discord, which proves that the whole path from Discord to the database
// works.
func (c *checks) events() {
	if c.Inbox == nil {
		return
	}
	const mend = "While gatehouse serve runs, mention the bot in a channel that it sees, and run gatehouse doctor " +
		"again. If no event comes, see the log of gatehouse serve."
	if c.recentErr != nil {
		c.Add("events", outbound.Fail,
			fmt.Sprintf("The last event from Discord could not be read from the database: %v.", c.recentErr),
			"Check GATEHOUSE_DATABASE_URL.")
		return
	}
	at := time.Time{}
	fromDiscord := func(e core.EventRecord) bool { // what gatehouse made itself proves nothing
		return e.Platform == c.Platform && e.Kind() != core.KindSignal && e.RetryOf == 0
	}
	if i := slices.IndexFunc(c.recent, fromDiscord); i >= 0 {
		at = c.recent[i].AcceptedAt
	}
	age := c.Now().Sub(at)
	switch {
	case at.IsZero():
		c.Add("events", outbound.Warn, "No event has come from Discord yet.", mend)
	case age <= freshEvent:
		c.Add("events", outbound.OK,
			fmt.Sprintf("The last event came from Discord %s ago.", age.Round(time.Second)), "")
	default:
		c.Add("events", outbound.Warn,
			fmt.Sprintf("The last event came from Discord at %s.", at.Local().Format("2006-01-02 15:04 MST")), mend)
	}
}
