package slack

import (
	"context"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Post sends one part as one message; a private post is visible to its person only. The ref is the message's channel and timestamp.
func (s *Slack) Post(ctx context.Context, d core.Delivery) (ref core.Ref, more bool, err error) {
	if d.Kind == core.PostWorking {
		return "", false, s.working(ctx, d.To, d.On)
	}
	if err := s.limits.ask(d); err != nil {
		return "", false, err
	}
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
	channel, ts, err := s.api.PostMessageContext(ctx, d.To.Channel, m.posted(d, d.To.Thread)...)
	if webapi.IsRefusal(err, invalidBlocks...) && m.markdown != "" {
		s.Log.Warn("Slack does not accept an answer as Markdown; it is sent as plain text", "event", d.Event, "err", err)
		channel, ts, err = s.api.PostMessageContext(ctx, d.To.Channel, m.withoutMarkdown().posted(d, d.To.Thread)...)
	}
	if err := webapi.SendError(s.called(err)); err != nil {
		s.limits.pause(d.To.Channel, core.RetryAfterOf(err))
		return "", false, err
	}
	return refOf(channel, ts), more, nil
}

// invalidBlocks are Slack's error codes for blocks that it does not accept.
var invalidBlocks = []string{"invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "msg_too_long"}

// draw draws all parts of a post. The parts of a long text are cached until the last one is sent.
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

// permalink returns a link to a conversation, "" if there is none.
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
