package doctor

import (
	api "github.com/slack-go/slack"

	"context"
	"fmt"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// checkToken asks who the bot is. If that fails, Slack can't be asked anything else.
func (r *run) checkToken(ctx context.Context) bool {
	me, err := r.api.AuthTestContext(ctx)
	switch {
	case webapi.Refusal(err) != "" && core.RetryAfterOf(webapi.Error(err)) == 0:
		r.Add("token", outbound.Fail, fmt.Sprintf("Slack refuses SLACK_BOT_TOKEN: %v.", err),
			"Open "+r.API.AppsPage()+
				", choose the app, then Install App: install it, and copy the Bot User OAuth Token to SLACK_BOT_TOKEN.")
		return false
	case r.unanswered("token", err):
		return false
	}
	// only to improve the hints
	if bot, err := r.api.GetBotInfoContext(ctx, api.GetBotInfoParameters{Bot: me.BotID}); err == nil {
		r.app = bot.AppID
	}
	r.bot, r.team, r.org = me.User, me.TeamID, me.EnterpriseID
	r.Add("token", outbound.OK,
		fmt.Sprintf("The bot is @%s (%s) in the workspace %s (%s).", me.User, me.UserID, me.Team, me.TeamID), "")
	return true
}

// checkScopes compares the scopes that Slack reports for the token with those that the configuration needs.
func (r *run) checkScopes() {
	if r.scopes == nil {
		r.Add("scopes", outbound.Warn, "Slack did not report the token's scopes, so they could not be checked.",
			"Check whether a proxy removes the header X-OAuth-Scopes.")
		return
	}
	needed, wanted := lacking(r.scopes, r.FollowUp, r.Checkup.Approvers)
	report := func(state core.CheckState, missing []Scope) {
		for _, s := range missing {
			r.Add("scope "+s.Name, state, fmt.Sprintf("The token lacks the scope %s, so %s.", s.Name, s.Without),
				fmt.Sprintf("Open %s, add %s under Bot Token Scopes, then click Reinstall to Workspace above. "+
					"See gatehouse help adapters/slack#scopes.", r.page("oauth"), s.Name))
		}
	}
	report(outbound.Fail, needed)
	report(outbound.Warn, wanted)
	if len(needed)+len(wanted) == 0 {
		r.Add("scopes", outbound.OK, "The token has every scope that this configuration needs.", "")
	}
}

// checkSocket checks that a Socket Mode connection may be opened. It opens none, because Slack would send it events.
func (r *run) checkSocket(ctx context.Context) {
	if r.API.AppToken == "" || r.Quick {
		return
	}
	_, _, err := r.api.StartSocketModeContext(ctx) // the address is valid for one connection, and secret
	switch category := core.CategoryOf(webapi.SocketError(err)); {
	case err == nil:
		r.Add("socket", outbound.OK, "Slack lets this app open a Socket Mode connection.", "")
	case category == core.Unauthorized:
		r.Add("socket", outbound.Fail, fmt.Sprintf("Slack refuses SLACK_APP_TOKEN: %v.", err),
			fmt.Sprintf("Open %s, App-Level Tokens, Generate Token and Scopes: add the scope connections:write, and "+
				"copy the token to SLACK_APP_TOKEN.", r.page("general")))
	case webapi.SocketsOff(err):
		r.Add("socket", outbound.Fail,
			fmt.Sprintf("Slack does not let this app open a Socket Mode connection: %v.", err),
			fmt.Sprintf(
				"Open %s and switch Enable Socket Mode on; or use SLACK_SIGNING_SECRET without SLACK_APP_TOKEN.",
				r.page("socket-mode")))
	case category == core.Unsupported:
		r.Add("socket", outbound.Fail,
			"SLACK_APP_TOKEN lacks the scope connections:write, so no Socket Mode connection can be opened.",
			fmt.Sprintf("Open %s, App-Level Tokens, and make a new token with the scope connections:write.",
				r.page("general")))
	default:
		r.unanswered("socket", err)
	}
}

// checkHTTP reports the addresses that Slack must reach. Whether Slack reaches them can't be checked from here; a
// received event proves it.
func (r *run) checkHTTP() {
	if !r.HTTP {
		return
	}
	what := fmt.Sprintf("The signing secret is set. Slack must reach %s, where gatehouse listens (GATEHOUSE_LISTEN), "+
		"by a public https address", r.Listen)
	if r.API.AppToken != "" {
		what = "The signing secret is set. With Socket Mode on, Slack posts nothing; without it, Slack must reach " +
			r.Listen + " by a public https address"
	}
	r.Add("http", outbound.OK, what+": "+strings.Join(r.Paths, ", ")+".", "")
}
