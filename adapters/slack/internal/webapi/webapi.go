// Package webapi makes slack-go's client of Slack's Web API and converts the errors of its calls.
//
// slack-go has the endpoints, their arguments and answers, and the errors: a refusal, a rate limit, a status. Here errors get core's
// categories, as adapters/internal/chat lists them. Nothing is retried here; the outbox and the dispatcher do that.
package webapi

import (
	"net/http"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
)

// Slack's names: Platform in ids, Title for people.
const (
	Platform = "slack"
	Title    = "Slack"
)

// Config is the configuration of the Web API.
type Config struct {
	URL      string
	BotToken string
	AppToken string // for apps.connections.open only
}

// New makes a client with a connection pool of its own. It calls scopes with the scopes of the bot's token whenever an answer contains
// them.
func New(c Config, scopes func(map[string]bool)) (*api.Client, *http.Client) {
	own := &http.Client{Timeout: chat.CallTimeout, Transport: chat.Transport()}
	return api.New(c.BotToken, api.OptionAPIURL(strings.TrimSuffix(c.URL, "/")+"/"), api.OptionHTTPClient(own), api.OptionAppLevelToken(c.AppToken),
		api.OptionOnResponseHeaders(func(method string, h http.Header) {
			list := h.Get("X-OAuth-Scopes")
			if list == "" || method == "apps.connections.open" { // those are the app token's
				return
			}
			all := map[string]bool{}
			for scope := range strings.SplitSeq(list, ",") {
				all[strings.TrimSpace(scope)] = true
			}
			scopes(all)
		})), own
}

// UserID parses the id of a person, slack:U123. Slack's ids of people begin with U or W.
func UserID(id string) (user string, ok bool) {
	user, ok = strings.CutPrefix(id, Platform+":")
	return user, ok && (strings.HasPrefix(user, "U") || strings.HasPrefix(user, "W"))
}

// GroupID parses the id of a user group, slack:S456.
func GroupID(id string) (group string, ok bool) {
	group, ok = strings.CutPrefix(id, Platform+":")
	return group, ok && strings.HasPrefix(group, "S")
}

// DisplayName returns a person's name in Slack, "" if they have none.
func DisplayName(u *api.User) string {
	for _, name := range []string{u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}
