package slack

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"

	"gatehouse/core"
)

// ManifestOptions say which app a manifest describes.
type ManifestOptions struct {
	URL       string // where Slack reaches gatehouse, https://HOST; "": Socket Mode
	Assistant bool   // with the assistant view
}

// Manifest gives an app manifest that Slack takes as it is. It is JSON, not YAML: what is pasted can't be spoiled by its white space,
// and every program reads it. The error, of category invalid, says what is wrong with the address.
func Manifest(o ManifestOptions) ([]byte, error) {
	at := func(string) string { return "" }
	if o.URL != "" {
		base, err := publicAddress(o.URL)
		if err != nil {
			return nil, err
		}
		at = func(path string) string { return base + path }
	}
	scopes, events := scopesFor(o.Assistant)
	m := manifest{
		Display: display{Name: botName, Description: "Talk to an agent with tools. Before it changes anything, somebody approves."},
		Features: features{
			AppHome: appHome{MessagesTab: true}, BotUser: botUser{DisplayName: botName, AlwaysOnline: true},
			Commands: []slashCommand{{
				Command: "/" + botName, URL: at(pathCommands), Description: "Start afresh, see what waits, or stop the bot", UsageHint: "new | status | stop | cancel | help",
			}},
		},
		OAuth: oauth{Scopes: oauthScopes{Bot: scopes}},
		Settings: settings{
			Events:        eventSubscriptions{URL: at(pathEvents), Bot: events},
			Interactivity: interactivity{Enabled: true, URL: at(pathInteractions)},
			SocketMode:    o.URL == "",
		},
	}
	if o.Assistant {
		m.Features.Assistant = &assistantView{
			Description: "An agent with tools that asks before it changes anything.",
			Prompts:     []prompt{{Title: "What can you do?", Message: "help"}},
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, core.Wrap(core.Internal, err, "The manifest could not be written.")
	}
	return out.Bytes(), nil
}

// botName is what app, bot and command are called.
const botName = "gatehouse"

// publicAddress checks the address and takes slashes off its end.
func publicAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", core.Errorf(core.Invalid, "%q is no address that Slack can post to; it has to be of the form https://HOST, and reachable from the internet.", address)
	}
	return strings.TrimRight(address, "/"), nil
}

// manifest is a manifest as Slack reads it. What is not set is written all the same where Slack's own default might change.
type manifest struct {
	Display  display  `json:"display_information"`
	Features features `json:"features"`
	OAuth    oauth    `json:"oauth_config"`
	Settings settings `json:"settings"`
}

type display struct {
	Name        string `json:"name"`        // at most 35 characters
	Description string `json:"description"` // at most 140
}

type features struct {
	AppHome   appHome        `json:"app_home"`
	Assistant *assistantView `json:"assistant_view,omitempty"`
	BotUser   botUser        `json:"bot_user"`
	Commands  []slashCommand `json:"slash_commands"`
}

type appHome struct {
	HomeTab     bool `json:"home_tab_enabled"`
	MessagesTab bool `json:"messages_tab_enabled"`
	ReadOnly    bool `json:"messages_tab_read_only_enabled"`
}

// assistantView goes with the scope assistant:write and the event assistant_thread_started: Slack takes all three, or none.
type assistantView struct {
	Description string   `json:"assistant_description"`
	Prompts     []prompt `json:"suggested_prompts"`
}

type prompt struct {
	Title   string `json:"title"`
	Message string `json:"message"`
}

type botUser struct {
	DisplayName  string `json:"display_name"` // at most 80 characters
	AlwaysOnline bool   `json:"always_online"`
}

type slashCommand struct {
	Command     string `json:"command"` // at most 32 characters
	URL         string `json:"url,omitempty"`
	Description string `json:"description"`
	UsageHint   string `json:"usage_hint"`
	Escape      bool   `json:"should_escape"`
}

type oauth struct {
	Scopes oauthScopes `json:"scopes"`
}

type oauthScopes struct {
	Bot []string `json:"bot"`
}

type settings struct {
	Events        eventSubscriptions `json:"event_subscriptions"`
	Interactivity interactivity      `json:"interactivity"`
	OrgDeploy     bool               `json:"org_deploy_enabled"`
	SocketMode    bool               `json:"socket_mode_enabled"`
	TokenRotation bool               `json:"token_rotation_enabled"`
}

type eventSubscriptions struct {
	URL string   `json:"request_url,omitempty"`
	Bot []string `json:"bot_events"`
}

type interactivity struct {
	Enabled bool   `json:"is_enabled"`
	URL     string `json:"request_url,omitempty"`
}
