package slack

import (
	"context"
	"fmt"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// token asks who the bot is. Where that fails, nothing else can be asked.
func (e *examination) token(ctx context.Context) bool {
	me, err := e.slack.api.AuthTestContext(ctx)
	switch {
	case refused(err) && core.RetryAfterOf(faultOf(err)) == 0:
		e.add("token", Fail, fmt.Sprintf("Slack refuses SLACK_BOT_TOKEN: %v.", err),
			"Open "+slackApps+", choose the app, then Install App: install it, and copy the Bot User OAuth Token to SLACK_BOT_TOKEN.")
		return false
	case e.unasked("token", err):
		return false
	}
	if bot, err := e.slack.api.GetBotInfoContext(ctx, api.GetBotInfoParameters{Bot: me.BotID}); err == nil { // it only makes the hints better
		e.app = bot.AppID
	}
	e.slack.self.User, e.slack.self.Name = me.UserID, me.User
	e.add("token", OK, fmt.Sprintf("The bot is @%s (%s) in the workspace %s (%s).", me.User, me.UserID, me.Team, me.TeamID), "")
	return true
}

// scopes holds what Slack says that the token may do against what the configuration needs.
func (e *examination) scopes() {
	has := e.slack.whoami().Scopes
	if has == nil {
		e.add("scopes", Warn, "Slack did not tell what the token may do, so the scopes could not be checked.",
			"See whether a proxy takes the header X-OAuth-Scopes away.")
		return
	}
	needed, wanted := lacking(has, e.Config, e.Approvers)
	report := func(state State, missing []Scope) {
		for _, s := range missing {
			e.add("scope "+s.Name, state, fmt.Sprintf("The token lacks the scope %s, so %s.", s.Name, s.Without),
				fmt.Sprintf("Open %s, add %s under Bot Token Scopes, then click Reinstall to Workspace above.", e.page("oauth"), s.Name))
		}
	}
	report(Fail, needed)
	report(Warn, wanted)
	if len(needed)+len(wanted) == 0 {
		e.add("scopes", OK, "The token has every scope that this configuration needs.", "")
	}
}
