package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Options configure the checks. All but Recent are required.
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

// checks is the state of a run.
type checks struct {
	Options
	chat.Report
	recent    []core.EventRecord
	recentErr error
	me        discordgo.User
	app       rest.Application
	guilds    []discordgo.UserGuild
	servers   []server // those of guilds that were checked
}

func (c *checks) get(ctx context.Context, endpoint string, answer any) error {
	return c.REST.Call(ctx, http.MethodGet, endpoint, nil, answer)
}

// page returns the address of a page of the application's settings, or of the list of applications if the application is not known.
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
	return chat.OrNone(chat.Name(chat.Clean(s)))
}

// server has what determines the bot's permissions in a server.
type server struct {
	discordgo.UserGuild
	member   discordgo.Member // the bot's own
	roles    []guilds.Role
	channels []discordgo.Channel // those that the bot sees: Discord lists no others
}
