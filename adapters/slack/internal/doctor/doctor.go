// Package doctor checks, by asking Slack, whether a configuration works: the token, its scopes, Socket Mode, HTTP,
// the channels that the bot is in, the latest event, the approvers. It changes nothing, and its report contains no
// secrets. "scope files:read" is the name of one: it warns that the token lacks the scope, says what the bot can't do
// without it, and which page of the app's settings adds it.
package doctor

import (
	"context"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Options are what is checked.
type Options struct {
	core.Checkup
	API      webapi.Config
	HTTP     bool     // a signing secret is set
	Paths    []string // that Slack posts to
	FollowUp bool     // messages that don't mention the bot itself are for it
	Connect  bool     // people of other workspaces may talk to the bot
	BotName  string   // as in the manifest
	Bots     []string // SLACK_BOTS
}

// Run makes the checks. If Slack does not answer, it makes only those that don't need Slack.
func Run(ctx context.Context, o Options) []core.Check {
	r := &run{Options: o, Report: outbound.Report{
		Platform: webapi.Platform, Title: webapi.Title, URL: o.API.URL, URLKey: "SLACK_API_URL",
		StatusURL: "https://slack-status.com",
	}}
	clock := &outbound.Clock{Title: webapi.Title, Now: o.Now}
	client, connections := webapi.New(o.API, clock, func(scopes map[string]bool) { r.scopes = scopes })
	defer connections.CloseIdleConnections()
	r.api = client
	if !r.checkToken(ctx) {
		r.checkHTTP()
		r.checkEvents(ctx)
		return r.Checks
	}
	r.Clock(clock)
	r.checkScopes()
	r.checkSocket(ctx)
	r.checkHTTP()
	r.checkChannels(ctx)
	r.checkEvents(ctx)
	r.checkApprovers(ctx)
	r.checkBots(ctx)
	return r.Checks
}

// run is the state of a run of the checks.
type run struct {
	Options
	outbound.Report
	api    *api.Client
	scopes map[string]bool // nil: not known
	app    string          // the app's id, "" if it is not known
	bot    string          // the bot's name, "" if it is not known
	user   string          // its user id
	botID  string
	team   string // the bot's workspace
	org    string // the organisation that the workspace belongs to, "" if none
}

// unanswered reports whether a call failed, and adds a check with the reason.
func (r *run) unanswered(name string, err error) bool {
	return r.Unanswered(name, webapi.Error(err), webapi.Refusal(err),
		"Run gatehouse doctor again. If the problem remains, check whether an admin of the workspace has restricted "+
			"the app.")
}

// page returns the address of a page of the app's settings, or of the list of apps if the app is not known.
func (r *run) page(name string) string {
	if r.app == "" {
		return r.API.AppsPage()
	}
	return r.API.AppsPage() + "/" + r.app + "/" + name
}

// lacksScope reports whether a call failed because the token lacks a scope.
func lacksScope(err error) bool { return core.CategoryOf(webapi.Error(err)) == core.Unsupported }
