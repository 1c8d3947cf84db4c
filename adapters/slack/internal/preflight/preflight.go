// Package preflight checks whether a configuration works with this Slack, by asking Slack: the token, its scopes, Socket Mode, HTTP,
// the channels that the bot is in, the latest event, the approvers. It changes nothing, and what it reports holds no secret.
package preflight

import (
	"context"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Options say what is checked.
type Options struct {
	API         webapi.Config
	HTTP        bool     // a signing secret is set
	Paths       []string // that Slack posts to
	Listen      string   // where gatehouse listens
	Quick       bool     // no Socket Mode connection is asked for
	FollowUp    bool     // threads with a conversation need no mention
	ApproverIDs []string // all that are named, those of other platforms too
	BotName     string   // as in the manifest
	LastEvent   func(context.Context) (time.Time, error)
	Now         func() time.Time
}

// run is a check under way.
type run struct {
	Options
	chat.Report
	api    *api.Client
	scopes map[string]bool // nil: not known
	app    string          // the app's id, "" where it is not known
	bot    string          // the bot's name, the same
}

// Run makes the checks. Without Slack itself, only what needs no Slack is checked.
func Run(ctx context.Context, o Options) []chat.Check {
	r := &run{Options: o, Report: chat.Report{
		Platform: webapi.Platform, Title: webapi.Title, URL: o.API.URL, URLKey: "SLACK_API_URL", StatusURL: "https://slack-status.com",
	}}
	client, connections := webapi.New(o.API, func(scopes map[string]bool) { r.scopes = scopes })
	defer connections.CloseIdleConnections()
	r.api = client
	if !r.checkToken(ctx) {
		r.checkHTTP()
		r.checkEvents(ctx)
		return r.Checks
	}
	r.checkScopes()
	r.checkSocket(ctx)
	r.checkHTTP()
	r.checkChannels(ctx)
	r.checkEvents(ctx)
	r.checkApprovers(ctx)
	return r.Checks
}

// unanswered adds the check of a question that Slack did not answer, and reports whether err says so.
func (r *run) unanswered(name string, err error) bool {
	return r.Unanswered(name, webapi.Error(err), webapi.Refusal(err),
		"Run gatehouse doctor again. If it stays so, see whether an admin of the workspace has restricted the app.")
}

// slackApps is the page of the settings of all one's apps.
const slackApps = "https://api.slack.com/apps"

// page is the address of one page of the app's settings, or of the list of apps where the app is not known.
func (r *run) page(name string) string {
	if r.app == "" {
		return slackApps
	}
	return slackApps + "/" + r.app + "/" + name
}

// lacksScope reports a call that failed because the token lacks a scope.
func lacksScope(err error) bool { return core.CategoryOf(webapi.Error(err)) == core.Unsupported }
