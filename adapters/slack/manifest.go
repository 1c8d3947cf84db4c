package slack

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/core"
)

// ManifestOptions describe the app of a manifest: the flags of gatehouse manifest slack.
type ManifestOptions struct {
	JSON      bool   `default:"true" hidden:""` // it is
	URL       string `name:"http" placeholder:"URL" help:"The public https:// URL where Slack reaches gatehouse. Without it events come over Socket Mode."`
	Assistant bool   `help:"Add the assistant view: each thread of direct messages is a conversation of its own."`
}

// Manifest is gatehouse manifest slack.
func (*Config) Manifest() any {
	return new(struct {
		Slack ManifestOptions `cmd:"" help:"Print the manifest of the Slack app as JSON, to paste where Slack asks for one."`
	})
}

// Run prints an app manifest that Slack accepts unchanged, and nothing else. It is JSON, not YAML: pasting can't break
// its white space, and every program can parse it. slack-go's Manifest is not used because it writes fields that Slack
// refuses. Error: invalid if the address can't be used.
func (o ManifestOptions) Run(out io.Writer) error {
	base, err := publicAddress(o.URL)
	if err != nil {
		return err
	}
	scopes, events := doctor.ScopesFor(o.Assistant)
	type object = map[string]any
	withURL := func(key, path string, fields object) object { // Socket Mode needs no address
		if base != "" {
			fields[key] = base + path
		}
		return fields
	}
	features := object{
		"app_home": object{
			"home_tab_enabled": false, "messages_tab_enabled": true, "messages_tab_read_only_enabled": false,
		},
		"bot_user": object{"display_name": botName, "always_online": true}, // at most 80 characters
		"slash_commands": []object{withURL("url", pathCommands, object{
			"command":     "/" + botName, // at most 32 characters
			"description": "Start a new conversation, see what is waiting, or stop the bot",
			"usage_hint":  "new | status | stop | cancel | help", "should_escape": false,
		})},
	}
	// Slack accepts this only together with the scope assistant:write and the event assistant_thread_started
	if o.Assistant {
		features["assistant_view"] = object{
			"assistant_description": "An agent with tools that asks before it changes anything.",
			"suggested_prompts":     []object{{"title": "What can you do?", "message": "help"}},
		}
	}
	m := object{ // false values are written too if Slack's default might change
		"display_information": object{ // at most 35 and 140 characters
			"name": botName, "description": "Talk to an agent with tools. It asks for approval before it changes " +
				"anything.",
		},
		"features":     features,
		"oauth_config": object{"scopes": object{"bot": scopes}},
		"settings": object{
			"event_subscriptions": withURL("request_url", pathEvents, object{"bot_events": events}),
			"interactivity":       withURL("request_url", pathInteractions, object{"is_enabled": true}),
			"org_deploy_enabled":  false, "socket_mode_enabled": o.URL == "", "token_rotation_enabled": false,
		},
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(m)
}

// botName is the name of the app, the bot and the command.
const botName = "gatehouse"

// publicAddress checks an address, unless it is empty, and removes slashes from its end.
func publicAddress(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", core.Errorf(core.Invalid, "%q is not an address that Slack can post to; it must have the form "+
			"https://HOST and be reachable from the internet.", address)
	}
	return strings.TrimRight(address, "/"), nil
}
