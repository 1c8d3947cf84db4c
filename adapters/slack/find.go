package slack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
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
	found := core.Found{Late: true}
	err = s.messages(ctx, d, func(at core.Address, m api.Message) (done bool) {
		found.Newer = found.Newer || !d.LostAt.IsZero() && m.Timestamp > stampOf(d.LostAt)
		if done = isPart(m, d); done {
			found = core.Found{Ref: refOf(at.Channel, m.Timestamp), More: d.Part+1 < len(parts)}
		}
		return done
	})
	return found, err
}

// Copies returns all messages of a part that can be read.
func (s *Slack) Copies(ctx context.Context, d core.Delivery) (all []core.Copy, err error) {
	err = s.messages(ctx, d, func(at core.Address, m api.Message) bool {
		if isPart(m, d) {
			var seen struct {
				Replies   int   `json:"reply_count"`
				Reactions []any `json:"reactions"`
			}
			_ = inbound.Decode([]byte(m.Text), &seen) // another form says nothing of them
			all = append(all, core.Copy{
				Ref: refOf(at.Channel, m.Timestamp), Touched: seen.Replies+len(seen.Reactions) > 0,
			})
		}
		return false
	})
	slices.SortFunc(all, func(a, b core.Copy) int { return cmp.Compare(a.Ref, b.Ref) })
	return all, err
}

// Delete deletes a message of the bot.
func (s *Slack) Delete(ctx context.Context, ref core.Ref) error {
	channel, ts, _ := strings.Cut(string(ref), "/")
	_, _, err := s.api.DeleteMessageContext(ctx, channel, ts)
	if webapi.IsRefusal(err, "message_not_found") {
		err = nil
	}
	return outbound.FindError(s.called(err))
}

// messages calls visit with the messages of a post's conversation since it was sent, until visit returns true. at is
// where they are.
func (s *Slack) messages(
	ctx context.Context, d core.Delivery, visit func(at core.Address, m api.Message) (done bool),
) error {
	at, err := s.located(ctx, d)
	if err != nil {
		return outbound.FindError(err)
	}
	since, cursor := max(at.Thread, at.Message), "" // times of the same length
	if !d.SentAt.IsZero() {
		since = max(since, stampOf(d.SentAt.Add(-margin)))
	}
	for range historyPages {
		page, next, err := s.history(ctx, at, since, cursor)
		if err := outbound.FindError(s.called(err)); err != nil {
			return err
		}
		for _, m := range page {
			if visit(at, m) {
				return nil
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
	return core.Errorf(core.DeliveryInDoubt, "There are too many messages to search.")
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
