// Package preflight checks whether a configuration works with this Slack, by asking Slack: the token, its scopes, Socket Mode, HTTP,
// the channels that the bot is in, the latest event, the approvers. It changes nothing, and what it reports holds no secret.
package preflight

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
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
