package slack

import (
	"context"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// How the bot shows that it is working.
const (
	workingEmoji  = "hourglass_flowing_sand"
	workingStatus = "is working on it…"
)

// working shows, or no longer shows, that the bot is working on an answer. With the assistant view it sets the assistant's status, which
// disables writing meanwhile and ends by itself; else it adds a reaction to the message.
func (s *Slack) working(ctx context.Context, to core.Address, on bool) error {
	if to.Thread != "" && s.identity.hasScope(preflight.ScopeAssistant, false) {
		status := ""
		if on {
			status = workingStatus
		}
		err := s.called(s.api.SetAssistantThreadsStatusContext(ctx, api.AssistantThreadsSetStatusParameters{ChannelID: to.Channel, ThreadTS: to.Thread, Status: status}))
		if core.CategoryOf(err) != core.DeliveryFailed { // it is a thread of the assistant view
			return err
		}
	}
	if to.Message == "" || !s.identity.hasScope(preflight.ScopeReactions, true) {
		return nil
	}
	change := s.api.RemoveReactionContext
	if on {
		change = s.api.AddReactionContext
	}
	err := change(ctx, workingEmoji, api.NewRefToMessage(to.Channel, to.Message))
	if webapi.IsRefusal(err, "already_reacted", "no_reaction", "message_not_found") { // already done, or the message no longer exists
		return s.called(nil)
	}
	return s.called(err)
}
