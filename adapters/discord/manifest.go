package discord

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"gatehouse/adapters/discord/internal/doctor"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// ManifestOptions describe the application of a manifest: the flags of gatehouse manifest discord.
type ManifestOptions struct {
	JSON        bool   `default:"true" hidden:""` // it is
	Application string `placeholder:"ID" help:"The application's id, for the invitation URL."`
	URL         string `name:"http" placeholder:"URL" help:"The public https:// URL where Discord sends button presses and commands. Without it they come over the gateway."`
	Reply       string `enum:"thread,channel" default:"thread" help:"The value of DISCORD_REPLY: ${enum}."`
}

// Manifest is gatehouse manifest discord.
func (*Config) Manifest() any {
	return new(struct {
		Discord ManifestOptions `cmd:"" help:"Print what the Discord application needs as JSON: the invitation URL, permissions, intents and commands."`
	})
}

// manifest lists the settings of an application. Discord itself accepts no manifest, so each part says where it is
// entered.
type manifest struct {
	Invite      string              `json:"invite"`
	Permissions []doctor.Permission `json:"permissions"`
	Intents     []intent            `json:"intents"`
	Endpoint    string              `json:"interactions_endpoint_url,omitempty"`
	Commands    []slashCommand      `json:"commands"`
}

type intent struct {
	Name string `json:"name"`
	For  string `json:"for"`
}

// intents are the privileged intents that the bot makes use of. They are switched on on the application's page Bot.
var intents = []intent{{
	Name: "Message Content Intent",
	For: "receive messages in a thread that don't mention the bot, and read what was said there before; without it " +
		"each " +
		"message there needs a mention, and what others said is withheld. Direct messages and mentions arrive in any " +
		"case",
}}

// Run describes the application: the address that invites the bot to a server with the permissions it needs, the
// intents to switch on, and the commands, which gatehouse registers by itself. An invalid option is an error of
// category invalid.
func (o ManifestOptions) Run(out io.Writer) error {
	m := manifest{
		Permissions: doctor.Needed(Config{Reply: o.Reply}.threads()), Intents: intents, Commands: slashCommands(),
	}
	application := cmp.Or(o.Application, "APPLICATION_ID")
	if o.Application != "" && !snowflake.Valid(application) {
		return core.Errorf(core.Invalid,
			"%q is not an application's id, which is a number; find it under General Information of your application.",
			application)
	}
	m.Invite = doctor.InviteURL(application, m.Permissions)
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return core.Errorf(core.Invalid,
				"%q is not an address that Discord can post to; it must have the form https://HOST and be reachable "+
					"from the internet.", o.URL)
		}
		m.Endpoint = strings.TrimRight(o.URL, "/") + pathInteractions
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(m)
}
