package preflight

import (
	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// run is a check under way.
type run struct {
	Options
	chat.Report
	api    *api.Client
	scopes map[string]bool // nil: not known
	app    string          // the app's id, "" where it is not known
	bot    string          // the bot's name, the same
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
