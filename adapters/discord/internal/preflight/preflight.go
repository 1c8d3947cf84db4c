// Package preflight makes Discord's checks of gatehouse doctor, and says which permissions the bot needs.
//
//	preflight.go     what is checked, in which order
//	application.go   the token, the intents, interactions, identifies, commands
//	servers.go       the servers that the bot is in
//	channels.go      the channels and threads that the bot was spoken to in
//	approvers.go     whoever may approve
//	permissions.go   the permissions that the bot needs, and its invitation
//
// The checks ask Discord; they change nothing, there or here, and what they report holds no secret.
package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Options say what is checked. All but Recent are needed.
type Options struct {
	REST      *rest.Client
	APIURL    string // DISCORD_API_URL
	PublicKey string // DISCORD_PUBLIC_KEY
	Shards    int    // DISCORD_SHARDS
	Threads   bool   // a mention opens a thread
	Path      string // where Discord posts interactions to
	Listen    string // where gatehouse serves HTTP
	Approvers []string
	// SameCommands reports whether the commands that Discord lists are those of this build.
	SameCommands func(listed json.RawMessage) bool
	Recent       func(context.Context) ([]core.EventRecord, error) // the latest events, latest first; nil: not known
	Now          func() time.Time
}

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

// checks are checks under way.
type checks struct {
	Options
	chat.Report
	recent    []core.EventRecord
	recentErr error
	me        discordgo.User
	app       application
	guilds    []discordgo.UserGuild
	servers   []server // those of them that were looked at
}

func (c *checks) get(ctx context.Context, endpoint string, answer any) error {
	return c.REST.Call(ctx, http.MethodGet, endpoint, nil, answer)
}

// page is the address of one page of the application's settings, or of the list of applications where it is not known.
func (c *checks) page(name string) string {
	const all = "https://discord.com/developers/applications"
	if !snowflake.Valid(c.app.ID) {
		return all
	}
	return all + "/" + c.app.ID + "/" + name
}

// unanswered adds the check of a question that Discord did not answer, and reports whether that is so.
func (c *checks) unanswered(name string, err error) bool {
	refusal := ""
	var r *rest.Refusal
	if errors.As(err, &r) && r.Code != 0 {
		refusal = fmt.Sprintf("%s (%d)", r.Message, r.Code)
	}
	return c.Unanswered(name, err, refusal, "Run gatehouse doctor again. If it stays so, invite the bot again.")
}

// plain is a name of Discord's as a terminal may show it.
func plain(s string) string {
	return chat.OrNone(chat.Name(chat.Clean(s)))
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
