package slack

import (
	"cmp"
	"context"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/internal/draw"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Post sends one part as one message; a private post is visible to its person only. The ref is the message's channel
// and timestamp.
func (s *Slack) Post(ctx context.Context, d core.Delivery) (ref core.Ref, more bool, err error) {
	if d.Kind == core.PostWorking {
		return "", false, s.working(ctx, d.To, d.On)
	}
	if d.To, err = s.located(ctx, d); err != nil {
		return "", false, webapi.SendError(err)
	}
	if err := s.limits.ask(d, s.Now()); err != nil {
		return "", false, err
	}
	s.posted(d.To.Message)
	parts, err := s.draw(ctx, d)
	if err != nil {
		return "", false, err
	}
	m, more, err := outbound.At(parts, d)
	if err == nil {
		ref, err = s.send(ctx, d, m)
	}
	if err != nil {
		return "", false, err
	}
	return ref, more, nil
}

// send posts a message; its ref is of no use if there is an error. A private one is seen by its person only, in the
// conversation in which they clicked; a person who is not in that conversation gets a direct message.
func (s *Slack) send(ctx context.Context, d core.Delivery, m draw.Message) (core.Ref, error) {
	channel, ts, user := d.To.Channel, "", strings.TrimPrefix(d.Person, Name+":")
	if d.Kind == core.PostPrivate {
		err := s.orPlain(d, m, func(m draw.Message) (err error) {
			ts, err = s.api.PostEphemeralContext(ctx, channel, user, m.Options(inThread(d.To.Thread)...)...)
			return err
		})
		if !webapi.IsRefusal(
			err, "user_not_in_channel", "channel_not_found", "not_in_channel", "messages_tab_disabled",
		) {
			return refOf(channel, ts), webapi.SendError(s.called(err))
		}
		d.To.Thread = ""
		if d.To.Channel, err = s.openDM(ctx, user); err != nil {
			return "", webapi.SendError(err)
		}
	}
	err := s.orPlain(d, m, func(m draw.Message) (err error) {
		channel, ts, err = s.api.PostMessageContext(ctx, d.To.Channel, posted(m, d)...)
		return err
	})
	err = webapi.SendError(s.called(err))
	s.limits.pause(d.To.Channel, core.RetryAfterOf(err), s.Now())
	if err == nil && ts == "" {
		err = core.Errorf(core.DeliveryInDoubt, "Slack's answer does not contain the message's timestamp.")
	}
	return refOf(channel, ts), err
}

// orPlain makes a call with a message. If Slack refuses what the message says, or how, it makes the call once more with
// plain text: what a model writes, and what Slack makes of it, can always exceed a limit or meet a rule that is not
// known here.
func (s *Slack) orPlain(d core.Delivery, m draw.Message, call func(draw.Message) error) error {
	err := call(m)
	if !webapi.RefusesContent(err) {
		return err
	}
	plain, ok := s.painter.Plain(d, m)
	if !ok {
		return err
	}
	s.Log.Warn("Slack does not accept a message as it was drawn; it is sent as plain text", "event", d.Event,
		"kind", d.Kind, "err", err)
	return call(plain)
}

// The metadata of our messages. It identifies a message whose answer was lost.
const (
	metadataType = "gatehouse_post"
	metadataKey  = "key"
	metadataPart = "part"
)

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{
		EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part},
	}
}

// posted returns the arguments of a new message. It carries its key, and its links are not unfurled.
func posted(m draw.Message, d core.Delivery) []api.MsgOption {
	return append(
		m.Options(inThread(d.To.Thread)...), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(),
		api.MsgOptionMetadata(metadata(d)),
	)
}

// inThread returns the argument for a thread; none for "", because Slack refuses an empty thread.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}

// located returns where a post goes: a copy of a card that names only its person goes to their direct messages.
func (s *Slack) located(ctx context.Context, d core.Delivery) (core.Address, error) {
	user, ok := webapi.UserID(d.Person)
	if !d.Copy || d.To.Channel != "" || !ok {
		return d.To, nil
	}
	channel, err := s.openDM(ctx, user)
	return core.Address{Platform: Name, Channel: channel}, err
}

// draw draws all parts of a post. Several parts are cached until the last one is sent.
func (s *Slack) draw(ctx context.Context, d core.Delivery) ([]draw.Message, error) {
	var at core.Address
	switch channel, ts, _ := strings.Cut(string(d.First), "/"); {
	case ts != "" && (d.Reminds != "" || !d.Copy):
		at = core.Address{Platform: Name, Channel: channel, Message: ts}
	case d.Copy && d.Card != nil:
		at = d.Card.From
	}
	link := s.permalink(ctx, at)
	return s.parts.Parts(d, func() ([]draw.Message, error) { return s.painter.Draw(d, link) })
}

// Edit redraws a message. Error: not_found for one that somebody has deleted in Slack.
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
	err = s.orPlain(d, parts[0], func(m draw.Message) error {
		_, _, _, err := s.api.UpdateMessageContext(ctx, channel, ts, m.Options(api.MsgOptionMetadata(metadata(d)))...)
		return err
	})
	if webapi.IsRefusal(err, "message_not_found") {
		_ = s.called(nil) // Slack has answered
		return core.Wrap(core.NotFound, err, "The message was deleted in Slack.")
	}
	if webapi.IsRefusal(err, "is_archived", "channel_not_found") {
		return s.called(err) // what has yet to be said there must not wait behind what is there already
	}
	return webapi.SendError(s.called(err))
}

// permalink returns a link to a conversation, "" if there is none.
func (s *Slack) permalink(ctx context.Context, at core.Address) string {
	ts := cmp.Or(at.Message, at.Thread)
	if ts == "" || at.Channel == "" || at.Platform != Name {
		return ""
	}
	link, err := s.api.GetPermalinkContext(ctx, &api.PermalinkParameters{Channel: at.Channel, Ts: ts})
	if s.called(err) != nil {
		return ""
	}
	return link
}

// ephemeralTime is the time limit for a message to a person who clicked. Nothing waits for it.
const ephemeralTime = 5 * time.Second

// tell sends an error message that only one person sees. It tries once, in parallel with the acknowledgement that Slack
// waits for.
func (s *Slack) tell(at core.Address, user, text string) {
	if at.Channel == "" {
		return
	}
	s.inBackground(func() {
		ctx, cancel := context.WithTimeout(context.Background(), ephemeralTime)
		defer cancel()
		_, err := s.api.PostEphemeralContext(ctx, at.Channel, user,
			append(inThread(at.Thread), api.MsgOptionText(text, true))...)
		if err := s.called(err); err != nil {
			s.Log.Info("an error message that only one person sees could not be sent", "err", err)
		}
	})
}

// How the bot shows that it is working.
const (
	workingEmoji  = "hourglass_flowing_sand"
	workingStatus = "is working on it…"
)

// working shows, or no longer shows, that the bot is working on an answer. With the assistant view it sets the
// assistant's status, which disables writing meanwhile and ends by itself; else it adds a reaction to the message.
func (s *Slack) working(ctx context.Context, to core.Address, on bool) error {
	if to.Thread != "" && s.identity.hasScope(doctor.ScopeAssistant, false) {
		status := ""
		if on {
			status = workingStatus
		}
		err := s.called(
			s.api.SetAssistantThreadsStatusContext(ctx,
				api.AssistantThreadsSetStatusParameters{ChannelID: to.Channel, ThreadTS: to.Thread, Status: status}))
		if core.CategoryOf(err) != core.DeliveryFailed { // it is a thread of the assistant view
			return err
		}
	}
	if to.Message == "" || !s.identity.hasScope(doctor.ScopeReactions, true) {
		return nil
	}
	change := s.api.RemoveReactionContext
	if on {
		change = s.api.AddReactionContext
	}
	err := change(ctx, workingEmoji, api.NewRefToMessage(to.Channel, to.Message))
	// already done, or the message no longer exists
	if webapi.IsRefusal(err, "already_reacted", "no_reaction", "message_not_found") {
		err = nil
	}
	return s.called(err)
}
