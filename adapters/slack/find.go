package slack

import (
	"context"
	"fmt"
	"strconv"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Limits of the search for a message in doubt.
const (
	// how far Slack's own clocks may differ, that of its answers and that of its messages
	margin       = 5 * time.Minute
	historyPage  = 200
	historyPages = 10
)

// Find looks for a part by the key in its metadata, among the messages of its conversation since the message that it
// answers, and since it was sent, both by Slack's clock. An ephemeral message can't be read back.
func (s *Slack) Find(ctx context.Context, d core.Delivery) (core.Found, error) {
	if d.Kind == core.PostPrivate {
		return core.Found{}, core.Errorf(core.DeliveryInDoubt, "A private message can't be read back.")
	}
	parts, err := s.draw(ctx, d)
	if err != nil {
		return core.Found{}, err
	}
	if d.To, err = s.located(ctx, d); err != nil {
		return core.Found{}, outbound.FindError(err)
	}
	since, cursor := max(d.To.Thread, d.To.Message), "" // times of the same length
	if !d.SentAt.IsZero() {
		since = max(since, fmt.Sprintf("%d.000000", d.SentAt.Add(-margin).Unix()))
	}
	for range historyPages {
		messages, next, err := s.history(ctx, d.To, since, cursor)
		if err := outbound.FindError(s.called(err)); err != nil {
			return core.Found{}, err
		}
		for _, m := range messages {
			if isPart(m, d) {
				return core.Found{Ref: refOf(d.To.Channel, m.Timestamp), More: d.Part+1 < len(parts)}, nil
			}
		}
		if cursor = next; cursor == "" {
			return core.Found{Late: true}, nil
		}
	}
	return core.Found{}, core.Errorf(core.DeliveryInDoubt, "There are too many messages to search.")
}

// history reads a page of messages of a thread, or of a channel outside its threads.
func (s *Slack) history(ctx context.Context, at core.Address, since, cursor string) ([]api.Message, string, error) {
	if at.Thread != "" {
		messages, _, next, err := s.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
			ChannelID: at.Channel, Timestamp: at.Thread, Oldest: since,
			Cursor: cursor, Limit: historyPage, IncludeAllMetadata: true,
		})
		return messages, next, err
	}
	page, err := s.api.GetConversationHistoryContext(ctx, &api.GetConversationHistoryParameters{
		ChannelID: at.Channel, Oldest: since, Cursor: cursor, Limit: historyPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return page.Messages, page.ResponseMetaData.NextCursor, nil
}

func isPart(m api.Message, d core.Delivery) bool {
	p := m.Metadata.EventPayload
	return m.Metadata.EventType == metadataType && fmt.Sprint(p[metadataKey]) == d.Key &&
		fmt.Sprint(p[metadataPart]) == strconv.Itoa(d.Part)
}
