package slack

import (
	"context"
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/core"
)

// Bots and workflows that SLACK_BOTS names may ask as people do, by a mention or in a thread of the bot. Whoever it
// names decides nothing, and what it writes is no control word. At most three turns of bots follow each other
// (inbound.OnlyBots). The bot itself is never answered, and other bots are not: two could answer each other
// forever.

// bots are the ids of SLACK_BOTS: B… of a bot or a workflow, U… or W… of a bot's user.
func (c Config) bots() []string { return inbound.IDs(c.Bots) }

// mentionGroups are the ids of SLACK_MENTION_GROUPS.
func (c Config) mentionGroups() []string { return inbound.IDs(c.MentionGroups) }

// isBot reports whether SLACK_BOTS names somebody.
func (s *Slack) isBot(who core.Actor) bool {
	return slices.Contains(s.Config.bots(), strings.TrimPrefix(who.ID, Name+":"))
}

// userSubtypes are the subtypes that a person's message may have.
var userSubtypes = []string{"", api.MsgSubTypeFileShare, api.MsgSubTypeThreadBroadcast, api.MsgSubTypeMeMessage}

const slackbot = "USLACKBOT"

// author is who wrote a message: a person, or a bot that SLACK_BOTS names, by the id that it names. It is zero for
// anybody else, and for the bot itself.
func (s *Slack) author(b bot, m heard.Message) core.Actor {
	if b.wrote(m) {
		return core.Actor{}
	}
	for _, id := range []string{m.BotID, m.User} {
		who := core.Actor{ID: Name + ":" + id, Name: m.BotName()}
		if id != "" && s.isBot(who) &&
			(m.Subtype == api.MsgSubTypeBotMessage || slices.Contains(userSubtypes, m.Subtype)) {
			return who
		}
	}
	if m.BotID != "" || m.User == "" || m.User == slackbot || !slices.Contains(userSubtypes, m.Subtype) {
		return core.Actor{}
	}
	return actor(m.User)
}

// wrote reports whether a message is the bot's own.
func (b bot) wrote(m heard.Message) bool {
	return m.User != "" && m.User == b.user || m.BotID != "" && m.BotID == b.id
}

// refusesBot reports whether a bot of another workspace wrote a message, and SLACK_CONNECT does not let it. What the
// event says decides; nobody is asked.
func (s *Slack) refusesBot(b bot, e envelope, m messageEvent) bool {
	foreign := func(team string) bool { return team != "" && !b.owns(team) }
	// any workspace is of the organisation
	if s.Config.Connect == connectAllow || e.Shared != true && b.enterprise != "" {
		return false
	}
	return slices.ContainsFunc([]string{m.UserTeam, m.SourceTeam, m.Team}, foreign)
}

// onlyBots reports whether a bot wrote a message that is not answered, since a person has to write first.
func (s *Slack) onlyBots(ctx context.Context, e core.Event) (bool, error) {
	only, err := inbound.OnlyBots(ctx, s.Inbox, e, s.isBot)
	if only && s.told.Add("bots "+string(e.Conversation), true, strangerPause) {
		s.Log.Warn("a bot of SLACK_BOTS is not answered: "+inbound.TooManyBots,
			"bot", e.Actor.ID, "conversation", e.Conversation)
	}
	return only, err
}

// mentionIDs are the ids whose mention is one of the bot: its own, and those of its groups.
func (s *Slack) mentionIDs(b bot) []string { return append(s.Config.mentionGroups(), b.user) }
