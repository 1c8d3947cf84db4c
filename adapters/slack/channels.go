package slack

import (
	"context"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
)

// Times of look-ups of channels.
const (
	channelTime  = time.Second // for the answer; the event waits for its commit meanwhile
	channelRetry = time.Minute // after an answer that did not come
)

// channelType gives the type of a channel: told is the event's own word, "" where it has none. A mention does not say whether it was
// written in a group direct message; the message event of the same message does. Whichever comes first, the message must get the same
// conversation.
func (s *Slack) channelType(ctx context.Context, channel, told string) string {
	if told != "" {
		return s.channels.Put(channel, told, chat.Forever)
	}
	if strings.HasPrefix(channel, "D") {
		return slackevents.ChannelTypeIM
	}
	if known, fresh := s.channels.Get(channel); fresh {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, channelTime)
	defer cancel()
	switch c, err := s.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: channel}); {
	case err != nil:
		return s.channels.Put(channel, slackevents.ChannelTypeChannel, channelRetry) // as most are
	case c.IsMpIM:
		return s.channels.Put(channel, slackevents.ChannelTypeMPIM, chat.Forever)
	}
	return s.channels.Put(channel, slackevents.ChannelTypeChannel, chat.Forever)
}
