package preflight

import (
	"context"
	"fmt"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// checkToken asks who the bot is. If that fails, Slack can't be asked anything else.
func (r *run) checkToken(ctx context.Context) bool {
	me, err := r.api.AuthTestContext(ctx)
	switch {
	case webapi.Refusal(err) != "" && core.RetryAfterOf(webapi.Error(err)) == 0:
		r.Add("token", chat.Fail, fmt.Sprintf("Slack refuses SLACK_BOT_TOKEN: %v.", err),
			"Open "+slackApps+", choose the app, then Install App: install it, and copy the Bot User OAuth Token to SLACK_BOT_TOKEN.")
		return false
	case r.unanswered("token", err):
		return false
	}
	if bot, err := r.api.GetBotInfoContext(ctx, api.GetBotInfoParameters{Bot: me.BotID}); err == nil { // only to improve the hints
		r.app = bot.AppID
	}
	r.bot = me.User
	r.Add("token", chat.OK, fmt.Sprintf("The bot is @%s (%s) in the workspace %s (%s).", me.User, me.UserID, me.Team, me.TeamID), "")
	return true
}

// checkScopes compares the scopes that Slack reports for the token with those that the configuration needs.
func (r *run) checkScopes() {
	if r.scopes == nil {
		r.Add("scopes", chat.Warn, "Slack did not report the token's scopes, so they could not be checked.",
			"Check whether a proxy removes the header X-OAuth-Scopes.")
		return
	}
	needed, wanted := lacking(r.scopes, r.FollowUp, r.ApproverIDs)
	report := func(state chat.State, missing []Scope) {
		for _, s := range missing {
			r.Add("scope "+s.Name, state, fmt.Sprintf("The token lacks the scope %s, so %s.", s.Name, s.Without),
				fmt.Sprintf("Open %s, add %s under Bot Token Scopes, then click Reinstall to Workspace above.", r.page("oauth"), s.Name))
		}
	}
	report(chat.Fail, needed)
	report(chat.Warn, wanted)
	if len(needed)+len(wanted) == 0 {
		r.Add("scopes", chat.OK, "The token has every scope that this configuration needs.", "")
	}
}
