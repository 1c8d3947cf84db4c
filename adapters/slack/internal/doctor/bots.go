package doctor

import (
	"context"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/webapi"
)

// whereBots is where to find the id of a bot.
const whereBots = "A bot's id is in Slack under its profile (Copy member ID, U…); that of a workflow (B…) is in the " +
	"log of gatehouse serve, at level debug, when it mentions the bot."

// checkBots looks up the bots and workflows that may ask.
func (r *run) checkBots(ctx context.Context) {
	for _, id := range r.Bots {
		if strings.HasPrefix(id, "B") {
			bot, err := r.api.GetBotInfoContext(ctx, api.GetBotInfoParameters{Bot: id})
			name := ""
			if err == nil {
				name = bot.Name
			}
			r.checkBot(id, name, true, err)
			continue
		}
		u, err := r.api.GetUserInfoContext(ctx, id)
		if err != nil {
			r.checkBot(id, "", false, err)
			continue
		}
		r.checkBot(id, webapi.DisplayName(u), u.IsBot, nil)
	}
}

// checkBot adds the check of one of SLACK_BOTS.
func (r *run) checkBot(id, name string, isBot bool, err error) {
	check, shown := "bot "+safetext.Name(id), safetext.Name(id)+", which SLACK_BOTS names, "
	switch {
	case webapi.IsRefusal(err, "bot_not_found", "user_not_found", "user_not_visible"):
		r.Add(check, outbound.Fail, shown+"is not known in this workspace.", "Correct its id. "+whereBots)
	case lacksScope(err):
		r.Add(check, outbound.Warn, shown+"could not be looked up: the token lacks the scope users:read.",
			"Add the scope; see the check of the scope above.")
	case r.unanswered(check, err):
	case id == r.user || id == r.botID:
		r.Add(check, outbound.Warn, shown+"is this bot itself, which is never answered.", "Remove it from SLACK_BOTS.")
	case !isBot:
		r.Add(check, outbound.Warn, shown+"is a person, "+safetext.Name(name)+", who can't decide then.",
			"Remove the id from SLACK_BOTS. "+whereBots)
	default:
		r.Add(check, outbound.OK, shown+"is "+safetext.Name(name)+".", "")
	}
}
