// Package preflight checks, by asking Slack, whether a configuration works: the token, its scopes, Socket Mode, HTTP, the channels that the
// bot is in, the latest event, the approvers. It changes nothing, and its report contains no secrets.
package preflight

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
)

// Options are what is checked.
type Options struct {
	API         webapi.Config
	HTTP        bool     // a signing secret is set
	Paths       []string // that Slack posts to
	Listen      string   // the address at which gatehouse listens
	Quick       bool     // skips the request of a Socket Mode connection
	FollowUp    bool     // threads with a conversation need no mention
	ApproverIDs []string // the ids of all approvers, including those on other platforms
	BotName     string   // as in the manifest
	LastEvent   func(context.Context) (time.Time, error)
	Now         func() time.Time
}

// Run makes the checks. If Slack does not answer, it makes only those that don't need Slack.
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
