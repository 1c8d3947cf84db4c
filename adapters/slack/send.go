package slack

import (
	"context"
	"fmt"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// The metadata of our messages: by it a message whose answer was lost is found again.
const (
	metadataType = "gatehouse_post"
	metadataKey  = "key"
	metadataPart = "part"
)

// Post sends one part. A private word goes to its person alone. The ref is the message's channel and time.
func (s *Slack) Post(ctx context.Context, d core.Delivery) (ref core.Ref, more bool, err error) {
	if d.Kind == core.PostWorking {
		return "", false, s.working(ctx, d.To, d.On)
	}
	if wait := s.pace.ask(d.To.Channel, fmt.Sprintf("%s#%d", d.Key, d.Part)); wait > 0 {
		return "", false, &core.Error{Category: core.DeliveryNotYet, Message: "Slack's rate limit for the channel asks to wait.", RetryAfter: wait}
	}
	parts, err := s.parts(ctx, d)
	if err != nil {
		return "", false, err
	}
	if d.Part >= len(parts) {
		return "", false, core.Errorf(core.DeliveryFailed, "The post has no part %d.", d.Part+1)
	}
	more = d.Part+1 < len(parts)
	if d.Kind == core.PostPrivate {
		ref, err = s.tell(ctx, d, parts[d.Part])
		return ref, more, err
	}
	channel, ts, err := s.post(ctx, d, parts[d.Part])
	if isRefusal(err, undrawable) && parts[d.Part].source != "" {
		s.Log.Warn("Slack does not take an answer as Markdown; it goes out as plain text", "event", d.Event, "err", err)
		channel, ts, err = s.post(ctx, d, parts[d.Part].plain())
	}
	if err := sendFault(s.heard(err)); err != nil {
		s.pace.hold(d.To.Channel, core.RetryAfterOf(err))
		return "", false, err
	}
	return refOf(channel, ts), more, nil
}

func (s *Slack) post(ctx context.Context, d core.Delivery, m drawn) (channel, ts string, err error) {
	return s.api.PostMessageContext(ctx, d.To.Channel, append(posted(d, m), inThread(d.To.Thread)...)...)
}

// undrawable are Slack's words for blocks that it will not show.
var undrawable = []string{"invalid_blocks", "invalid_blocks_format", "invalid_attachments", "msg_blocks_too_long", "msg_too_long"}

// parts draws the whole post. The answer of a long text is kept until its last part is out: it takes a while to draw.
func (s *Slack) parts(ctx context.Context, d core.Delivery) ([]drawn, error) {
	if d.Kind == core.PostReply && len(d.Text) > maxMarkdown {
		return s.long.parts(d, func() ([]drawn, error) { return s.paint.draw(d, "") })
	}
	link := ""
	if d.Copy && d.Card != nil {
		link = s.permalink(ctx, d.Card.From)
	}
	return s.paint.draw(d, link)
}

func look(m drawn) []api.MsgOption {
	return []api.MsgOption{api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...)}
}

// posted is how a message is posted: found again by its metadata, its links not unfolded.
func posted(d core.Delivery, m drawn) []api.MsgOption {
	return append(look(m), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionMetadata(metadata(d)))
}

// inThread says which thread is meant. Where none is, nothing may be said of it: Slack takes an empty one for a wrong one.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part}}
}

// tell says something to one person, where they pressed. Who does not see that place is told in direct messages.
func (s *Slack) tell(ctx context.Context, d core.Delivery, m drawn) (core.Ref, error) {
	user := strings.TrimPrefix(d.Person, Name+":")
	ts, err := s.api.PostEphemeralContext(ctx, d.To.Channel, user, append(look(m), inThread(d.To.Thread)...)...)
	if isRefusal(err, unseen) {
		channel, openErr := s.directTo(ctx, user)
		if openErr != nil {
			return "", sendFault(openErr)
		}
		_, ts, err = s.api.PostMessageContext(ctx, channel, posted(d, m)...)
	}
	if err := sendFault(s.heard(err)); err != nil {
		return "", err
	}
	return refOf(d.To.Channel, ts), nil
}

// unseen are Slack's words for a person who does not see the place.
var unseen = []string{"user_not_in_channel", "channel_not_found", "not_in_channel", "messages_tab_disabled"}

// Edit redraws a message.
func (s *Slack) Edit(ctx context.Context, ref core.Ref, d core.Delivery) error {
	channel, ts, ok := strings.Cut(string(ref), "/")
	if !ok {
		return core.Errorf(core.DeliveryFailed, "The post's reference %q is not Slack's.", ref)
	}
	if d.Kind == core.PostPrivate {
		return nil // what was said to one person can't be changed
	}
	parts, err := s.parts(ctx, d)
	if err != nil {
		return err
	}
	_, _, _, err = s.api.UpdateMessageContext(ctx, channel, ts, append(look(parts[0]), api.MsgOptionMetadata(metadata(d)))...)
	return sendFault(s.heard(err))
}

func refOf(channel, ts string) core.Ref { return core.Ref(channel + "/" + ts) }

// permalink gives a link to a conversation, "" where there is none to give.
func (s *Slack) permalink(ctx context.Context, at core.Address) string {
	ts := at.Message
	if ts == "" {
		ts = at.Thread
	}
	if ts == "" || at.Channel == "" {
		return ""
	}
	link, err := s.api.GetPermalinkContext(ctx, &api.PermalinkParameters{Channel: at.Channel, Ts: ts})
	if s.heard(err) != nil {
		return ""
	}
	return link
}
