package slack

import (
	"context"
	"fmt"
	"strconv"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// Numbers of a look for a message in doubt.
const (
	looks     = 2               // posts become readable late
	clockSkew = 2 * time.Minute // how far our clock and Slack's may be apart
	pageSize  = 200
	pages     = 10
)

// Find looks for a part by the key in its metadata, among what was posted to its conversation since the send. What only one person
// sees can't be read back.
func (s *Slack) Find(ctx context.Context, d core.Delivery) (core.Found, error) {
	if d.Kind == core.PostPrivate {
		return core.Found{}, core.Errorf(core.DeliveryInDoubt, "What was said to one person can't be read back.")
	}
	parts, err := s.parts(ctx, d)
	if err != nil {
		return core.Found{}, err
	}
	since := ""
	if !d.SentAt.IsZero() {
		since = fmt.Sprintf("%d.000000", d.SentAt.Add(-clockSkew).Unix())
	}
	cursor := ""
	for range pages {
		messages, next, err := s.history(ctx, d.To, since, cursor)
		if err := lookFault(s.heard(err)); err != nil {
			return core.Found{}, err
		}
		for _, m := range messages {
			if isPart(m, d) {
				return core.Found{Ref: refOf(d.To.Channel, m.Timestamp), More: d.Part+1 < len(parts)}, nil
			}
		}
		if next == "" {
			return core.Found{Looks: looks}, nil
		}
		cursor = next
	}
	return core.Found{}, core.Errorf(core.DeliveryInDoubt, "There are too many messages to look through.")
}

// history reads a page of a thread, or of what stands outside threads.
func (s *Slack) history(ctx context.Context, at core.Address, since, cursor string) ([]api.Message, string, error) {
	if at.Thread != "" {
		messages, _, next, err := s.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
			ChannelID: at.Channel, Timestamp: at.Thread, Oldest: since, Cursor: cursor, Limit: pageSize, IncludeAllMetadata: true,
		})
		return messages, next, err
	}
	h, err := s.api.GetConversationHistoryContext(ctx, &api.GetConversationHistoryParameters{
		ChannelID: at.Channel, Oldest: since, Cursor: cursor, Limit: pageSize, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return h.Messages, h.ResponseMetaData.NextCursor, nil
}

// lookFault is what an error of a look-up means to the outbox. Looking changes nothing: where Slack breaks down over it, or the token
// has to be mended, it is looked again later, for as long as that takes. What Slack will not tell stays in doubt.
func lookFault(err error) error {
	switch core.CategoryOf(err) {
	case core.DeliveryInDoubt, core.ProviderAuthentication:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	}
	return err
}

func isPart(m api.Message, d core.Delivery) bool {
	p := m.Metadata.EventPayload
	return m.Metadata.EventType == metadataType && fmt.Sprint(p[metadataKey]) == d.Key && fmt.Sprint(p[metadataPart]) == strconv.Itoa(d.Part)
}
