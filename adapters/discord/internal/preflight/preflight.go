// Package preflight makes Discord's checks of gatehouse doctor, and says which permissions the bot needs.
//
//	preflight.go     what is checked, in which order; the latest event
//	checks.go        how a check asks and reports
//	application.go   the token, the intents, interactions, identifies, commands
//	servers.go       the servers that the bot is in
//	channels.go      the channels and threads that the bot was spoken to in
//	approvers.go     whoever may approve
//	permissions.go   the permissions that the bot needs, has and lacks; its invitation
//
// The checks ask Discord; they change nothing, there or here, and what they report holds no secret.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Run makes the checks. Where the token is not valid, only what needs no Discord is checked.
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

// freshEvent is how long ago the last event may have come without a question.
const freshEvent = time.Hour

// events tells when the last event came from Discord, which proves the whole way from Discord to the database.
func (c *checks) events() {
	if c.Recent == nil {
		return
	}
	const mend = "While gatehouse serve runs, mention the bot in a channel that it sees, and run gatehouse doctor again. If nothing comes, gatehouse serve says why."
	if c.recentErr != nil {
		c.Add("events", chat.Fail, fmt.Sprintf("The database can't tell when the last event came from Discord: %v.", c.recentErr), "See GATEHOUSE_DATABASE_URL.")
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
