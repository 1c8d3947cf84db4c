// Package preflight makes the Discord checks of gatehouse doctor, and defines which permissions the bot needs.
//
//	preflight.go     what is checked, in which order; the latest event
//	checks.go        how a check asks and reports
//	application.go   the token, the intents, interactions, identifies, commands
//	servers.go       the servers that the bot is in
//	channels.go      the channels and threads that the bot was addressed in
//	approvers.go     the approvers
//	permissions.go   the permissions that the bot needs, has and lacks; its invitation
//
// The checks ask Discord. They change nothing, there or here, and their reports contain no secret.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Run makes the checks. Without a valid token it makes only those that need no call to Discord.
func Run(ctx context.Context, o Options) []chat.Check {
	c := &checks{Options: o, Report: chat.Report{
		Platform: "discord", Title: "Discord", URL: o.APIURL, URLKey: "DISCORD_API_URL", StatusURL: "https://discordstatus.com",
	}}
	if o.Recent != nil {
		c.recent, c.recentErr = o.Recent(ctx)
	}
	valid := c.token(ctx)
	if valid {
		c.content()
		c.interactions()
		c.gateway(ctx)
		c.commands(ctx)
		c.allServers(ctx)
	}
	c.events()
	if valid {
		c.approvers(ctx)
	}
	return c.Checks
}

// freshEvent is the age up to which the last event needs no warning.
const freshEvent = time.Hour

// events reports when the last event came from Discord, which proves that the whole path from Discord to the database works.
func (c *checks) events() {
	if c.Recent == nil {
		return
	}
	const mend = "While gatehouse serve runs, mention the bot in a channel that it sees, and run gatehouse doctor again. If no event comes, see the log of gatehouse serve."
	if c.recentErr != nil {
		c.Add("events", chat.Fail, fmt.Sprintf("The last event from Discord could not be read from the database: %v.", c.recentErr), "Check GATEHOUSE_DATABASE_URL.")
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
		c.Add("events", chat.Warn, "No event has come from Discord yet.", mend)
	case age <= freshEvent:
		c.Add("events", chat.OK, fmt.Sprintf("The last event came from Discord %s ago.", age.Round(time.Second)), "")
	default:
		c.Add("events", chat.Warn, fmt.Sprintf("The last event came from Discord at %s.", at.Local().Format("2006-01-02 15:04")), mend)
	}
}
