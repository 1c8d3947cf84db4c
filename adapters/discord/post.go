package discord

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Post sends one part as one message. A private notice is visible only to its person. The ref is the message's channel
// and id.
func (d *Discord) Post(ctx context.Context, delivery core.Delivery) (ref core.Ref, more bool, err error) {
	ctx = rest.ForPosts(ctx)
	if delivery.Kind == core.PostWorking {
		d.showTyping(delivery.To, delivery.On)
		return "", false, nil
	}
	delivery, part, more, err := d.next(ctx, delivery)
	if err != nil {
		return "", false, err
	}
	if delivery.Kind == core.PostPrivate {
		ref, err = d.postPrivate(ctx, delivery, part)
		return ref, more, err
	}
	if ref, err = d.answerCommand(ctx, delivery, part, ""); !errors.Is(err, errLate) {
		return ref, more, err
	}
	channel, replyTo, err := d.destination(ctx, delivery.To)
	if err != nil {
		return "", false, outbound.SendError(err)
	}
	ref, made, err := d.send(ctx, channel, replyTo, delivery, part)
	if err != nil {
		if core.CategoryOf(err) == core.DeliveryForbidden && address.StartsThread(delivery.To) {
			d.threads.Forget(delivery.To.Thread) // it may be opened once the permission is granted
		}
		return "", false, err
	}
	// an earlier send succeeded, and the card has changed since
	if delivery.Kind == core.PostCard && !made.hasText(part, draw.Late(d.desk.Texts)) {
		if err := d.Edit(ctx, ref, delivery); err != nil {
			return "", false, core.Wrap(core.DeliveryInDoubt, err, "The card was posted in an earlier state and "+
				"could not be updated.")
		}
	}
	if delivery.Kind != core.PostSteps {
		d.typing.stop(address.Channel(delivery.To), nil)
	}
	return ref, more, nil
}

// next draws the part of a delivery that is to be sent next, and looks up where it goes: a copy of a card that names
// only its person goes to their direct messages.
func (d *Discord) next(
	ctx context.Context, delivery core.Delivery,
) (to core.Delivery, part draw.Message, more bool, err error) {
	parts, err := d.parts(delivery)
	if err != nil {
		return delivery, part, false, err
	}
	part, more, err = outbound.At(parts, delivery)
	if user, ok := address.User(delivery.Person); ok && err == nil && delivery.Copy && delivery.To.Channel == "" {
		delivery.To = core.Address{Platform: address.Platform}
		delivery.To.Channel, err = d.guilds.DM(ctx, user)
	}
	return delivery, part, more, findError(err)
}

// Edit redraws a message. If its thread has been archived, Edit unarchives it first.
func (d *Discord) Edit(ctx context.Context, ref core.Ref, delivery core.Delivery) error {
	ctx = rest.ForPosts(ctx)
	channel, id, ok := strings.Cut(string(ref), "/")
	if !ok || !snowflake.Valid(channel, id) {
		return core.Errorf(core.DeliveryFailed, "The post's reference %q is not Discord's.", ref)
	}
	if delivery.Kind == core.PostPrivate {
		return nil // private notices are never edited
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return err
	}
	again, err := d.answerCommand(ctx, delivery, parts[0], id)
	if !errors.Is(err, errLate) && (err != nil || again == ref) {
		return err
	}
	edit := func() error {
		return d.call(ctx, http.MethodPatch, discordgo.EndpointChannelMessage(channel, id), channel, parts[0],
			parts[0].Outgoing(), &posted{})
	}
	err = edit()
	if rest.IsRefusal(err, discordgo.ErrCodePerformedOperationOnArchivedThread) {
		if err := d.rest.Call(ctx, http.MethodPatch, discordgo.EndpointChannel(channel),
			map[string]any{"archived": false}, nil); err != nil {
			return outbound.SendError(err)
		}
		err = edit()
	}
	if rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage) {
		if _, _, toCommand := address.Command(delivery.To); toCommand {
			return nil // only its person sees it, and it can no longer be changed
		}
		return core.Wrap(core.NotFound, err, "The message was deleted on Discord.")
	}
	return outbound.SendError(err)
}

// parts draws the messages of a delivery. A long reply is slow to draw, so it stays cached until its last part is sent.
func (d *Discord) parts(delivery core.Delivery) ([]draw.Message, error) {
	if delivery.Kind == core.PostReply && len(delivery.Text) > draw.MaxReply {
		return d.long.Parts(delivery, func() ([]draw.Message, error) { return d.painter.Draw(delivery, "") })
	}
	return d.painter.Draw(delivery, cardLink(delivery))
}

// cardLink returns the link of a reminder to its card, "" in another channel, whose server is not known; and of a
// card's copy to the card's conversation, "" if there is none.
func cardLink(delivery core.Delivery) string {
	guild := address.Guild(delivery.Conversation)
	switch {
	case delivery.Copy && (delivery.First == "" || delivery.Reminds == "") && delivery.Card != nil:
		return address.Link(delivery.Conversation, delivery.Card.From)
	case delivery.Person != "":
		guild = address.Direct
	case delivery.Copy:
		return ""
	}
	if delivery.First == "" {
		return ""
	}
	return "https://discord.com/channels/" + guild + "/" + string(delivery.First)
}
