package slack

import (
	"context"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// The metadata of our messages: by it a message whose answer was lost is found again.
const (
	metadataType = "gatehouse_post"
	metadataKey  = "key"
	metadataPart = "part"
)

// Post sends one part as one message, a private post to its person alone. The ref is the message's channel and timestamp.
func (s *Slack) Post(ctx context.Context, d core.Delivery) (ref core.Ref, more bool, err error) {
	parts, err := s.draw(ctx, d)
	if err != nil {
		return "", false, err
	}
	m, more, err := chat.At(parts, d)
	if err != nil {
		return "", false, err
	}
	if d.Kind == core.PostPrivate {
		ref, err = s.postEphemeral(ctx, d, m)
		return ref, more, err
	}
	channel, ts, err := s.api.PostMessageContext(ctx, d.To.Channel, posted(d, m, d.To.Thread)...)
	if webapi.IsRefusal(err, invalidBlocks...) && m.markdown != "" {
		s.Log.Warn("Slack does not accept an answer as Markdown; it is sent as plain text", "event", d.Event, "err", err)
		channel, ts, err = s.api.PostMessageContext(ctx, d.To.Channel, posted(d, m.withoutMarkdown(), d.To.Thread)...)
	}
	if err := webapi.SendError(s.called(err)); err != nil {
		s.limits.pause(d.To.Channel, core.RetryAfterOf(err))
		return "", false, err
	}
	return refOf(channel, ts), more, nil
}

// invalidBlocks are Slack's words for blocks that it does not show.
var invalidBlocks = []string{"invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "msg_too_long"}

// draw draws all parts of a post. A long text is kept drawn until its last part is sent.
func (s *Slack) draw(ctx context.Context, d core.Delivery) ([]message, error) {
	if d.Kind == core.PostReply && len(d.Text) > maxMarkdown {
		return s.long.Parts(d, func() ([]message, error) { return s.painter.draw(d, "") })
	}
	link := ""
	if d.Copy && d.Card != nil {
		link = s.permalink(ctx, d.Card.From)
	}
	return s.painter.draw(d, link)
}

// posted are the arguments of a new message: it carries its key, and its links are not unfolded.
func posted(d core.Delivery, m message, thread string) []api.MsgOption {
	return append(m.options(inThread(thread)...), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionMetadata(metadata(d)))
}

// inThread names a thread. Where there is none nothing may be said of it: Slack refuses an empty one.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part}}
}

// postEphemeral posts what only one person sees, where they clicked. Who does not see that conversation gets a direct message.
func (s *Slack) postEphemeral(ctx context.Context, d core.Delivery, m message) (core.Ref, error) {
	user := strings.TrimPrefix(d.Person, Name+":")
	ts, err := s.api.PostEphemeralContext(ctx, d.To.Channel, user, m.options(inThread(d.To.Thread)...)...)
	if webapi.IsRefusal(err, "user_not_in_channel", "channel_not_found", "not_in_channel", "messages_tab_disabled") {
		channel, openErr := s.openDM(ctx, user)
		if openErr != nil {
			return "", webapi.SendError(openErr)
		}
		_, ts, err = s.api.PostMessageContext(ctx, channel, posted(d, m, "")...)
	}
	if err := webapi.SendError(s.called(err)); err != nil {
		return "", err
	}
	return refOf(d.To.Channel, ts), nil
}

// Edit redraws a message.
func (s *Slack) Edit(ctx context.Context, ref core.Ref, d core.Delivery) error {
	channel, ts, ok := strings.Cut(string(ref), "/")
	if !ok {
		return core.Errorf(core.DeliveryFailed, "The post's reference %q is not Slack's.", ref)
	}
	if d.Kind == core.PostPrivate {
		return nil // an ephemeral message can't be changed
	}
	parts, err := s.draw(ctx, d)
	if err != nil {
		return err
	}
	_, _, _, err = s.api.UpdateMessageContext(ctx, channel, ts, parts[0].options(api.MsgOptionMetadata(metadata(d)))...)
	return webapi.SendError(s.called(err))
}

func refOf(channel, ts string) core.Ref { return core.Ref(channel + "/" + ts) }

// permalink gives a link to a conversation, "" where there is none.
func (s *Slack) permalink(ctx context.Context, at core.Address) string {
	ts := at.Message
	if ts == "" {
		ts = at.Thread
	}
	if ts == "" || at.Channel == "" {
		return ""
	}
	link, err := s.api.GetPermalinkContext(ctx, &api.PermalinkParameters{Channel: at.Channel, Ts: ts})
	if s.called(err) != nil {
		return ""
	}
	return link
}
