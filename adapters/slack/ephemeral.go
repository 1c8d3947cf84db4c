package slack

import (
	"context"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// ephemeralTime is the time limit for a message to a person who clicked. Nothing waits for it.
const ephemeralTime = 5 * time.Second

// tellClicker tells the person who clicked, and no one else, what is wrong. It tries once, in parallel with the acknowledgement that Slack
// waits for.
func (s *Slack) tellClicker(i interaction, text string) {
	at := i.address()
	if at.Channel == "" {
		return
	}
	s.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ephemeralTime)
		defer cancel()
		_, err := s.api.PostEphemeralContext(ctx, at.Channel, i.User.ID, append(inThread(at.Thread), api.MsgOptionText(text, true))...)
		if err := s.called(err); err != nil {
			s.Log.Info("the person who clicked could not be told what is wrong", "err", err)
		}
	})
}

// postEphemeral posts a message that only one person sees, in the conversation in which they clicked. A person who is not in that
// conversation gets a direct message.
func (s *Slack) postEphemeral(ctx context.Context, d core.Delivery, m message) (core.Ref, error) {
	user := strings.TrimPrefix(d.Person, Name+":")
	ts, err := s.api.PostEphemeralContext(ctx, d.To.Channel, user, m.options(inThread(d.To.Thread)...)...)
	if webapi.IsRefusal(err, "user_not_in_channel", "channel_not_found", "not_in_channel", "messages_tab_disabled") {
		channel, openErr := s.openDM(ctx, user)
		if openErr != nil {
			return "", webapi.SendError(openErr)
		}
		_, ts, err = s.api.PostMessageContext(ctx, channel, m.posted(d, "")...)
	}
	if err := webapi.SendError(s.called(err)); err != nil {
		return "", err
	}
	return refOf(d.To.Channel, ts), nil
}
