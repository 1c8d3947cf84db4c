package slack

import (
	"context"
	"fmt"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// socket proves that a Socket Mode connection may be opened. It opens none: Slack would send it events.
func (e *examination) socket(ctx context.Context) {
	if e.Config.AppToken == "" || e.Quick {
		return
	}
	_, _, err := e.slack.api.StartSocketModeContext(ctx) // the address is good for one connection, and a secret
	fault := e.slack.fatalOr(faultOf(err))
	switch c := core.CategoryOf(fault); {
	case err == nil:
		e.add("socket", OK, "Slack lets this app open a Socket Mode connection.", "")
	case c == core.ProviderAuthentication:
		e.add("socket", Fail, fmt.Sprintf("Slack refuses SLACK_APP_TOKEN: %v.", err),
			fmt.Sprintf("Open %s, App-Level Tokens, Generate Token and Scopes: add the scope connections:write, and copy the token to SLACK_APP_TOKEN.", e.page("general")))
	case c == core.Unsupported && isRefusal(err, fatalOpen):
		e.add("socket", Fail, fmt.Sprintf("Slack lets this app open no Socket Mode connection: %v.", err),
			fmt.Sprintf("Open %s and switch Enable Socket Mode on; or use SLACK_SIGNING_SECRET without SLACK_APP_TOKEN.", e.page("socket-mode")))
	case c == core.Unsupported:
		e.add("socket", Fail, "SLACK_APP_TOKEN lacks the scope connections:write, so no Socket Mode connection can be opened.",
			fmt.Sprintf("Open %s, App-Level Tokens, and make a new token with the scope connections:write.", e.page("general")))
	default:
		e.unasked("socket", err)
	}
}

// http tells what HTTP takes. Whether Slack reaches this machine can't be seen from here; an event that came shows it.
func (e *examination) http() {
	if e.Config.SigningSecret == "" {
		return
	}
	what := fmt.Sprintf("The signing secret is set. Slack must reach %s, where gatehouse listens (GATEHOUSE_LISTEN), by a public https address", e.Listen)
	if e.Config.AppToken != "" {
		what = "The signing secret is set. With Socket Mode on Slack posts nothing; without it, it must reach " + e.Listen + " by a public https address"
	}
	e.add("http", OK, what+": "+strings.Join([]string{pathEvents, pathInteractions, pathCommands}, ", ")+".", "")
}

// conversations tells whether the bot is anywhere at all.
func (e *examination) conversations(ctx context.Context) {
	types := listable(e.slack.whoami().Scopes)
	if len(types) == 0 {
		return // the scopes say why
	}
	channels, direct, more := "", 0, 0
	for cursor, at := "", 0; at < maxChannel; at++ {
		page, next, err := e.slack.api.GetConversationsForUserContext(ctx, &api.GetConversationsForUserParameters{
			Types: types, ExcludeArchived: true, Cursor: cursor, Limit: memberLimit,
		})
		if e.unasked("channels", err) {
			return
		}
		for _, c := range page {
			switch {
			case c.IsIM || c.IsMpIM:
				direct++
			case channels == "":
				channels = "#" + oneLine(c.Name)
			default:
				more++
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	switch {
	case channels != "" && more > 0:
		e.add("channels", OK, fmt.Sprintf("The bot is in %s and %d more.", channels, more), "")
	case channels != "":
		e.add("channels", OK, fmt.Sprintf("The bot is in %s.", channels), "")
	case direct > 0:
		e.add("channels", OK, "The bot is in no channel, and in "+count(direct, "direct conversation", "direct conversations")+".", "")
	default:
		e.add("channels", Fail, "The bot is in no channel, and nobody has written to it, so it can hear nobody.",
			fmt.Sprintf("In Slack, write /invite @%s in a channel; or find it under Apps and write to it.", e.slack.whoami().Name))
	}
}

// freshEvent is how old the last event may be without a word about it.
const freshEvent = time.Hour

// events tells when Slack was last heard, which proves the whole way from Slack to the database.
func (e *examination) events(ctx context.Context) {
	if e.Heard == nil {
		return
	}
	at, err := e.Heard(ctx)
	age := e.Now().Sub(at)
	switch {
	case err != nil:
		e.add("events", Fail, fmt.Sprintf("The database can't tell when the last event came from Slack: %v.", err), "See GATEHOUSE_DATABASE_URL.")
	case !at.IsZero() && age <= freshEvent:
		e.add("events", OK, fmt.Sprintf("The last event came from Slack %s ago.", age.Round(time.Second)), "")
	case at.IsZero():
		e.add("events", Warn, "No event has come from Slack yet.", e.listenBetter())
	default:
		e.add("events", Warn, fmt.Sprintf("The last event came from Slack at %s.", at.Local().Format("2006-01-02 15:04")), e.listenBetter())
	}
}

// listenBetter says how to make an event come, and where to look if it does not.
func (e *examination) listenBetter() string {
	_, events := scopesFor(false)
	bot := e.slack.whoami().Name
	if bot == "" {
		bot = botName
	}
	hint := fmt.Sprintf("While gatehouse serve runs, write “@%s hello” in a channel that the bot is in, and run gatehouse doctor again. If nothing comes: open %s, "+
		"switch Enable Events on, and see that Subscribe to bot events lists %s", bot, e.page("event-subscriptions"), strings.Join(events, ", "))
	if e.Config.AppToken != "" {
		return hint + fmt.Sprintf("; see also that Socket Mode is on (%s).", e.page("socket-mode"))
	}
	return hint + "; see also that the Request URL there ends in " + pathEvents + " and is marked Verified."
}
