package doctor

import (
	"context"
	"fmt"
	"strings"

	api "github.com/slack-go/slack"
	wire "github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/socketmode"
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
	r.bot, r.user, r.botID, r.team, r.org = me.User, me.UserID, me.BotID, me.TeamID, me.EnterpriseID
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

// checkSocket checks that a Socket Mode connection can be opened: another host than that of the API serves it. It is
// closed as soon as Slack has said hello, since Slack sends events over it; those it sends again.
func (r *run) checkSocket(ctx context.Context) {
	if r.API.AppToken == "" || r.Quick {
		return
	}
	_, address, err := r.api.StartSocketModeContext(ctx) // it is valid for one connection, and secret
	switch category := core.CategoryOf(webapi.SocketError(err)); {
	case err == nil:
		r.dialSocket(ctx, address)
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

// dialSocket opens the connection.
func (r *run) dialSocket(ctx context.Context, address string) {
	conn, hello, err := socketmode.Dial(ctx, address)
	if r.Unopened("socket", err) {
		return
	}
	conn.Close()
	switch n := hello.NumConnections; {
	case hello.Type != wire.RequestTypeHello:
		r.Add("socket", outbound.Fail,
			fmt.Sprintf("Slack closes a Socket Mode connection at once (%s).", safetext.Name(hello.Reason)),
			fmt.Sprintf("Slack allows %d connections of an app. Stop the programs that use SLACK_APP_TOKEN and are "+
				"not needed, and run gatehouse doctor again.", socketmode.MaxConnections))
	case n > 2:
		r.Add("socket", outbound.OK,
			fmt.Sprintf("A Socket Mode connection opens; Slack counts %d others of this app.", n-1),
			"If that is more than there are processes of this gatehouse, something else uses SLACK_APP_TOKEN, and "+
				"Slack gives each event and click to one of them at random. Stop it, or give it an app of its own.")
	default:
		r.Add("socket", outbound.OK, "A Socket Mode connection opens.", "")
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
