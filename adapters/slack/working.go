package slack

import (
	"context"

	"gatehouse/core"

	api "github.com/slack-go/slack"
)

// How the bot shows that it works.
const (
	workingEmoji  = "hourglass_flowing_sand"
	workingStatus = "is working on it…"
)

// working shows on the message that is answered, or above the thread, that the bot works on it, and takes it away again. With the
// assistant view it is the assistant's status, which disables writing meanwhile and lapses by itself; else a reaction.
func (s *Slack) working(ctx context.Context, to core.Address, on bool) error {
	if to.Thread != "" && s.whoami().Scopes != nil && s.can(scopeAssistant) {
		status := ""
		if on {
			status = workingStatus
		}
		err := s.heard(s.api.SetAssistantThreadsStatusContext(ctx, api.AssistantThreadsSetStatusParameters{ChannelID: to.Channel, ThreadTS: to.Thread, Status: status}))
		if err == nil || core.CategoryOf(err) != core.DeliveryFailed {
			return err
		}
	}
	return s.react(ctx, to, on)
}

func (s *Slack) react(ctx context.Context, to core.Address, on bool) error {
	if to.Message == "" || !s.can(scopeReactions) {
		return nil
	}
	item, change := api.NewRefToMessage(to.Channel, to.Message), s.api.RemoveReactionContext
	if on {
		change = s.api.AddReactionContext
	}
	err := change(ctx, workingEmoji, item)
	if isRefusal(err, sameAlready) {
		err = nil
	}
	return s.heard(err)
}

// sameAlready are Slack's words for a reaction that is as it should be, or has nothing to stand on any more.
var sameAlready = []string{"already_reacted", "no_reaction", "message_not_found"}
