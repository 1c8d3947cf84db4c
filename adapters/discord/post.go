package discord

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// outgoing is a message as Discord takes it; discordgo.MessageSend has no nonce.
type outgoing struct {
	Content   string                       `json:"content"`
	Flags     discordgo.MessageFlags       `json:"flags"`
	Mentions  mentions                     `json:"allowed_mentions"`
	Rows      []discordgo.MessageComponent `json:"components"`
	Nonce     string                       `json:"nonce,omitempty"`
	Enforce   bool                         `json:"enforce_nonce,omitempty"`
	Reference *discordgo.MessageReference  `json:"message_reference,omitempty"`
}

// mentions says whom a message pings. Its zero value is nobody, whatever the message says.
type mentions struct{}

// MarshalJSON gives an empty list: without the field Discord would ping everybody that a text names.
func (mentions) MarshalJSON() ([]byte, error) {
	return []byte(`{"parse":[],"replied_user":false}`), nil
}

// outgoing makes a message of what was drawn for a part.
func (m drawn) outgoing() outgoing {
	out := outgoing{Content: m.Text, Flags: discordgo.MessageFlagsSuppressEmbeds, Rows: m.Rows}
	if out.Rows == nil {
		out.Rows = []discordgo.MessageComponent{}
	}
	return out
}

// nonce names a part of a post to Discord, which keeps a message of the same nonce from being posted twice for some minutes. It is
// sealed, so that nobody can guess it.
func (d *Discord) nonce(delivery core.Delivery) string {
	sum := sha256.Sum256([]byte(d.Signer.Seal("part", delivery.Key, strconv.Itoa(delivery.Part))))
	const bytes = maxNonce * 3 / 4
	return base64.RawURLEncoding.EncodeToString(sum[:bytes])
}

// Post sends one part as one message. A private notice goes to its person alone. The ref is the message's channel and id.
func (d *Discord) Post(ctx context.Context, delivery core.Delivery) (ref core.Ref, more bool, err error) {
	if delivery.Kind == core.PostWorking {
		d.showTyping(delivery.To, delivery.On)
		return "", false, nil
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return "", false, err
	}
	part, more, err := chat.At(parts, delivery)
	if err != nil {
		return "", false, err
	}
	if delivery.Kind == core.PostPrivate {
		ref, err = d.postPrivate(ctx, delivery, part)
		return ref, more, err
	}
	if c, ok, err := d.commandOf(ctx, delivery); ok || err != nil {
		if err != nil {
			return "", false, err
		}
		if ref, late, err := d.answerCommand(ctx, c, delivery, part, ""); !late {
			return ref, more, err
		}
	}
	channel, replyTo, err := d.destination(ctx, delivery.To)
	if err != nil {
		return "", false, chat.SendError(err)
	}
	if ref, err = d.postTo(ctx, channel, replyTo, delivery, part); err != nil {
		if core.CategoryOf(err) == core.DeliveryForbidden && startsThread(delivery.To) {
			d.threads.forget(delivery.To.Thread) // once the permission is mended, it may be opened
		}
		return "", false, err
	}
	if delivery.Kind != core.PostSteps {
		d.typing.stop(channelOf(delivery.To))
	}
	return ref, more, nil
}

// postTo sends a part to a channel, as a reply to a message where one is named.
func (d *Discord) postTo(ctx context.Context, channel, replyTo string, delivery core.Delivery, part drawn) (core.Ref, error) {
	out := part.outgoing()
	out.Nonce, out.Enforce = d.nonce(delivery), true
	if replyTo != "" {
		lenient := false
		out.Reference = &discordgo.MessageReference{MessageID: replyTo, FailIfNotExists: &lenient}
	}
	var made posted
	if err := d.rest.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), out, &made); err != nil {
		return "", chat.SendError(err)
	}
	if !snowflake.Valid(made.ID) {
		return "", core.Errorf(core.DeliveryInDoubt, "Discord's answer does not say which message it made.")
	}
	d.sent.add(made.ID, delivery)
	ref := refOf(channel, made.ID)
	if delivery.Kind == core.PostCard && !made.says(part) { // Discord knows its nonce, and gave what was sent first
		if err := d.Edit(ctx, ref, delivery); err != nil {
			return "", core.Wrap(core.DeliveryInDoubt, err, "The card is there as it was sent first, and could not be redrawn.")
		}
	}
	return ref, nil
}

// Edit redraws a message. A thread that has been archived meanwhile is opened again for it.
func (d *Discord) Edit(ctx context.Context, ref core.Ref, delivery core.Delivery) error {
	channel, id, ok := strings.Cut(string(ref), "/")
	if !ok || !snowflake.Valid(channel) || !snowflake.Valid(id) {
		return core.Errorf(core.DeliveryFailed, "The post's reference %q is not Discord's.", ref)
	}
	if delivery.Kind == core.PostPrivate {
		return nil // what was said to one person is not changed
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return err
	}
	c, isAnswer, err := d.commandOf(ctx, delivery)
	if err != nil {
		return err
	}
	if isAnswer {
		if again, late, err := d.answerCommand(ctx, c, delivery, parts[0], id); !late && (err != nil || again == ref) {
			return err
		}
	}
	out, endpoint := parts[0].outgoing(), discordgo.EndpointChannelMessage(channel, id)
	err = d.rest.Call(ctx, http.MethodPatch, endpoint, out, nil)
	if rest.IsRefusal(err, discordgo.ErrCodePerformedOperationOnArchivedThread) {
		if err := d.rest.Call(ctx, http.MethodPatch, discordgo.EndpointChannel(channel), map[string]any{"archived": false}, nil); err != nil {
			return chat.SendError(err)
		}
		err = d.rest.Call(ctx, http.MethodPatch, endpoint, out, nil)
	}
	if _, toCommand := interactionIn(delivery.To, commandPrefix); toCommand && rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage) {
		return nil // only its person sees it, and it can't be changed any more
	}
	return chat.SendError(err)
}
