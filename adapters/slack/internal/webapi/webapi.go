// Package webapi makes slack-go's client of Slack's Web API and says what the errors of its calls mean.
//
// slack-go has the endpoints, their arguments and answers, and the errors: a refusal, a rate limit, a status. Errors get core's
// categories here, as adapters/internal/chat lists them; nothing is retried here, the outbox and the dispatcher do that.
package webapi

import (
	"net/http"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
)

// Platform and Title are Slack's names, in ids and for people.
const (
	Platform = "slack"
	Title    = "Slack"
)

// Config says how Slack's Web API is reached.
type Config struct {
	URL      string
	BotToken string
	AppToken string // for apps.connections.open alone
}

// New makes a client on connections of its own. scopes gets the scopes of the bot's token whenever an answer tells them.
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

// UserID reads the id of a person, slack:U123; Slack's ids of people begin with U or W.
func UserID(id string) (user string, ok bool) {
	user, ok = strings.CutPrefix(id, Platform+":")
	return user, ok && (strings.HasPrefix(user, "U") || strings.HasPrefix(user, "W"))
}

// GroupID reads the id of a user group, slack:S456.
func GroupID(id string) (group string, ok bool) {
	group, ok = strings.CutPrefix(id, Platform+":")
	return group, ok && strings.HasPrefix(group, "S")
}

// DisplayName is what a person is called in Slack, "" where they have no name.
func DisplayName(u *api.User) string {
	for _, name := range []string{u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return ""
}
