package preflight

import (
	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// run is the state of a run of the checks.
type run struct {
	Options
	chat.Report
	api    *api.Client
	scopes map[string]bool // nil: not known
	app    string          // the app's id, "" if it is not known
	bot    string          // the bot's name, "" if it is not known
}

// unanswered reports whether a call failed, and adds a check that says why.
func (r *run) unanswered(name string, err error) bool {
	return r.Unanswered(name, webapi.Error(err), webapi.Refusal(err),
		"Run gatehouse doctor again. If it stays so, see whether an admin of the workspace has restricted the app.")
}

// slackApps is the page with the list of a person's apps.
const slackApps = "https://api.slack.com/apps"

// page returns the address of a page of the app's settings, or of the list of apps if the app is not known.
func (r *run) page(name string) string {
	if r.app == "" {
		return slackApps
	}
	return slackApps + "/" + r.app + "/" + name
}

// lacksScope reports whether a call failed because the token lacks a scope.
func lacksScope(err error) bool { return core.CategoryOf(webapi.Error(err)) == core.Unsupported }
