package doctor

import (
	api "github.com/slack-go/slack"

	"context"
	"fmt"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
)

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
				channel = "#" + safetext.Name(c.Name)
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
		r.Add("channels", outbound.OK, fmt.Sprintf("The bot is in %s and %d more.", channel, more), "")
	case channel != "":
		r.Add("channels", outbound.OK, fmt.Sprintf("The bot is in %s.", channel), "")
	case direct > 0:
		r.Add("channels", outbound.OK,
			"The bot is in no channel, and in "+
				outbound.Count(direct, "direct conversation", "direct conversations")+".",
			"")
	default:
		r.Add("channels", outbound.Fail,
			"The bot is in no channel and has no direct messages, so no one can write to it.",
			fmt.Sprintf("In Slack, write /invite @%s in a channel; or find it under Apps and write to it.", r.bot))
	}
}

// reportConnect reports what happens to people of other workspaces, if the bot may meet some.
func (r *run) reportConnect(shared int) {
	count := outbound.Count(shared, "conversation", "conversations") + " shared with other workspaces"
	switch {
	case r.Connect:
		r.Add("connect", outbound.OK,
			"The bot is in "+count+", and SLACK_CONNECT=allow lets their people talk to it. They can't decide about "+
				"approvals.", "")
	case shared > 0:
		r.Add("connect", outbound.OK,
			"The bot is in "+count+", whose people it does not answer; SLACK_CONNECT=allow would change that.", "")
	}
}
