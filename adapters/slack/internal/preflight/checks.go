package preflight

import (
	"context"
	"fmt"
	"strings"
	"time"

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
	r.Add("token", chat.OK,
		fmt.Sprintf("The bot is @%s (%s) in the workspace %s (%s).", me.User, me.UserID, me.Team, me.TeamID), "")
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
	report := func(state core.CheckState, missing []Scope) {
		for _, s := range missing {
			r.Add("scope "+s.Name, state, fmt.Sprintf("The token lacks the scope %s, so %s.", s.Name, s.Without),
				fmt.Sprintf("Open %s, add %s under Bot Token Scopes, then click Reinstall to Workspace above.",
					r.page("oauth"), s.Name))
		}
	}
	report(chat.Fail, needed)
	report(chat.Warn, wanted)
	if len(needed)+len(wanted) == 0 {
		r.Add("scopes", chat.OK, "The token has every scope that this configuration needs.", "")
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
		r.Add("socket", chat.OK, "Slack lets this app open a Socket Mode connection.", "")
	case category == core.Unauthorized:
		r.Add("socket", chat.Fail, fmt.Sprintf("Slack refuses SLACK_APP_TOKEN: %v.", err),
			fmt.Sprintf("Open %s, App-Level Tokens, Generate Token and Scopes: add the scope connections:write, and "+
				"copy the token to SLACK_APP_TOKEN.", r.page("general")))
	case webapi.SocketsOff(err):
		r.Add("socket", chat.Fail, fmt.Sprintf("Slack does not let this app open a Socket Mode connection: %v.", err),
			fmt.Sprintf(
				"Open %s and switch Enable Socket Mode on; or use SLACK_SIGNING_SECRET without SLACK_APP_TOKEN.",
				r.page("socket-mode")))
	case category == core.Unsupported:
		r.Add("socket", chat.Fail,
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
	r.Add("http", chat.OK, what+": "+strings.Join(r.Paths, ", ")+".", "")
}

// How much of the list of conversations is read.
const (
	pageSize = 1000
	maxPages = 20
)

// checkChannels reports the conversations that the bot is in.
func (r *run) checkChannels(ctx context.Context) {
	types := listable(r.scopes)
	if len(types) == 0 {
		return // reported by the check of the scopes
	}
	channel, direct, more, shared := "", 0, 0, 0
	for cursor, page := "", 0; page < maxPages; page++ {
		found, next, err := r.api.GetConversationsForUserContext(ctx, &api.GetConversationsForUserParameters{
			Types: types, ExcludeArchived: true, Cursor: cursor, Limit: pageSize,
		})
		if r.unanswered("channels", err) {
			return
		}
		for _, c := range found {
			if c.IsExtShared {
				shared++
			}
			switch {
			case c.IsIM || c.IsMpIM:
				direct++
			case channel == "":
				channel = "#" + chat.Name(c.Name)
			default:
				more++
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	r.reportConnect(shared)
	switch {
	case channel != "" && more > 0:
		r.Add("channels", chat.OK, fmt.Sprintf("The bot is in %s and %d more.", channel, more), "")
	case channel != "":
		r.Add("channels", chat.OK, fmt.Sprintf("The bot is in %s.", channel), "")
	case direct > 0:
		r.Add("channels", chat.OK,
			"The bot is in no channel, and in "+chat.Count(direct, "direct conversation", "direct conversations")+".",
			"")
	default:
		r.Add("channels", chat.Fail, "The bot is in no channel and has no direct messages, so no one can write to it.",
			fmt.Sprintf("In Slack, write /invite @%s in a channel; or find it under Apps and write to it.", r.bot))
	}
}

// reportConnect reports what happens to people of other workspaces, if the bot may meet some.
func (r *run) reportConnect(shared int) {
	count := chat.Count(shared, "conversation", "conversations") + " shared with other workspaces"
	switch {
	case r.Connect:
		r.Add("connect", chat.OK,
			"The bot is in "+count+", and SLACK_CONNECT=allow lets their people talk to it. They can't decide about "+
				"approvals.", "")
	case shared > 0:
		r.Add("connect", chat.OK,
			"The bot is in "+count+", whose people it does not answer; SLACK_CONNECT=allow would change that.", "")
	}
}

// recentEvent is how old the latest event may be without a hint.
const recentEvent = time.Hour

// checkEvents reports when the latest event came, which proves the whole path from Slack to the database.
func (r *run) checkEvents(ctx context.Context) {
	if r.LastEvent == nil {
		return
	}
	at, err := r.LastEvent(ctx)
	age := r.Now().Sub(at)
	switch {
	case err != nil:
		r.Add("events", chat.Fail,
			fmt.Sprintf("The time of the last event from Slack can't be read from the database: %v.", err),
			"See GATEHOUSE_DATABASE_URL.")
	case at.IsZero():
		r.Add("events", chat.Warn, "No event has come from Slack yet.", r.eventHint())
	case age <= recentEvent:
		r.Add("events", chat.OK, fmt.Sprintf("The last event came from Slack %s ago.", age.Round(time.Second)), "")
	default:
		r.Add("events", chat.Warn,
			fmt.Sprintf("The last event came from Slack at %s.", at.Local().Format("2006-01-02 15:04 MST")),
			r.eventHint())
	}
}

// eventHint returns how to trigger an event, and where to look if none arrives.
func (r *run) eventHint() string {
	_, events := ScopesFor(false)
	bot := r.bot
	if bot == "" {
		bot = r.BotName
	}
	hint := fmt.Sprintf("While gatehouse serve runs, write “@%s hello” in a channel that the bot is in, and run "+
		"gatehouse doctor again. If nothing comes: open %s, "+
		"switch Enable Events on, and check that Subscribe to bot events lists %s", bot, r.page("event-subscriptions"),
		strings.Join(events, ", "))
	if r.API.AppToken != "" {
		return hint + fmt.Sprintf("; check also that Socket Mode is on (%s).", r.page("socket-mode"))
	}
	return hint + "; check also that the Request URL there ends in " + r.Paths[0] + " and is marked Verified."
}

// Where to find ids.
const (
	wherePeople = "A person's id is in Slack under their profile, the three dots, Copy member ID."
	whereGroups = "See People, User groups in Slack; a group's id is in the address of its page."
)

// checkApprovers looks up the people and groups that may approve.
func (r *run) checkApprovers(ctx context.Context) {
	r.Approvers(ctx, r.ApproverIDs, "slack:U0123ABCD", wherePeople, func(ctx context.Context, id string) {
		user, isUser := webapi.UserID(id)
		group, isGroup := webapi.GroupID(id)
		switch {
		case isUser:
			r.checkPerson(ctx, id, user)
		case isGroup:
			r.checkGroup(ctx, id, group)
		default:
			r.Approver(id, chat.Fail, "is neither the id of a person (U…) nor that of a user group (S…)", wherePeople)
		}
	})
}

func (r *run) checkPerson(ctx context.Context, id, user string) {
	u, err := r.api.GetUserInfoContext(ctx, user)
	switch {
	case webapi.IsRefusal(err, "user_not_found", "user_not_visible"):
		r.Approver(id, chat.Fail, "is not a member of this workspace", "Choose another person. "+wherePeople)
	case lacksScope(err):
		r.Approver(id, chat.Warn, "could not be looked up: the token lacks the scope users:read",
			"Add the scope; see the check of the scope above.")
	case r.unanswered("approver "+chat.Name(id), err):
	case u.Deleted:
		r.Approver(id, chat.Fail, "has been deactivated", "Choose another person. "+wherePeople)
	case u.TeamID != "" && u.TeamID != r.team && (r.org == "" || u.Enterprise.EnterpriseID != r.org):
		r.Approver(id, chat.Fail, "is a person of another workspace, whose presses are refused",
			"Choose a person of this workspace. "+wherePeople)
	case u.IsBot:
		r.Approver(id, chat.Fail, "is a bot, and bots can't press buttons", "Choose a person. "+wherePeople)
	default:
		r.Approver(id, chat.OK, "is "+chat.Name(webapi.DisplayName(u)), "")
	}
}

func (r *run) checkGroup(ctx context.Context, id, group string) {
	members, err := r.api.GetUserGroupMembersContext(ctx, group)
	switch {
	case webapi.IsRefusal(err, "no_such_subteam", "subteam_not_found"):
		r.Approver(id, chat.Fail, "is no user group of this workspace", whereGroups)
	case lacksScope(err):
		r.Approver(id, chat.Fail,
			"could not be looked up, so its members can't decide: the token lacks the scope usergroups:read",
			"Add the scope; see the check of the scope above.")
	case r.unanswered("approver "+chat.Name(id), err):
	case len(members) == 0:
		r.Approver(id, chat.Fail, "has no members", whereGroups)
	default:
		r.Approver(id, chat.OK, "has "+chat.Count(len(members), "member", "members"), "")
	}
}
