package discord

import (
	"context"
	"net/http"
	"strings"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// outbound is what speaks.
type outbound struct {
	rest    *rest
	paint   painter
	long    *long
	pace    *pace
	threads *threads
	typing  *typist
}

func newOutbound(d *Discord) outbound {
	return outbound{
		rest: newRest(d.Config, d.Now, d.voice.met), paint: painter{seal: d.Signer.Seal}, long: &long{}, pace: newPace(d.Now), threads: newThreads(),
		typing: newTypist(d),
	}
}

// speak does what goes on beside posts until ctx ends: it registers the commands and shows where the bot is typing.
func (d *Discord) speak(ctx context.Context) {
	defer d.out.rest.close()
	defer d.out.typing.end()
	d.out.typing.begin(ctx)
	d.keepCommands(ctx)
	<-ctx.Done()
}

// outgoing is a message as Discord takes it.
type outgoing struct {
	Content   string                 `json:"content"`
	Flags     int                    `json:"flags"`
	Mentions  mentions               `json:"allowed_mentions"`
	Rows      []api.MessageComponent `json:"components"`
	Nonce     string                 `json:"nonce,omitempty"`
	Enforce   bool                   `json:"enforce_nonce,omitempty"`
	Reference *reference             `json:"message_reference,omitempty"`
}

// mentions says whom a message calls. Its zero value is nobody, whatever the message says.
type mentions struct{}

// MarshalJSON gives an empty list: without the field Discord would call everybody that a text names.
func (mentions) MarshalJSON() ([]byte, error) {
	return []byte(`{"parse":[],"replied_user":false}`), nil
}

// reference makes a message a reply to another one.
type reference struct {
	Message string `json:"message_id"`
	Strict  bool   `json:"fail_if_not_exists"`
}

// sent is what is read of a message that is there.
type sent struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	Content string `json:"content"`
	Flags   int    `json:"flags"`
	Author  struct {
		Bot bool `json:"bot"`
	} `json:"author"`
}

// outgoing makes a message of what was drawn for a part.
func (p painter) outgoing(d core.Delivery, m drawn) outgoing {
	out := outgoing{Content: m.Text + p.mark(d), Flags: flagNoEmbeds, Rows: m.Rows}
	if out.Rows == nil {
		out.Rows = []api.MessageComponent{}
	}
	return out
}

// Post sends one part as one message. A private word goes to its person alone. The ref is the message's channel and id.
func (d *Discord) Post(ctx context.Context, delivery core.Delivery) (ref core.Ref, more bool, err error) {
	if delivery.Kind == core.PostWorking {
		d.working(delivery.To, delivery.On)
		return "", false, nil
	}
	if wait := d.pace(delivery); wait > 0 {
		return "", false, &core.Error{Category: core.DeliveryNotYet, Message: "Discord's rate limit for the channel asks to wait.", RetryAfter: wait}
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return "", false, err
	}
	if delivery.Part >= len(parts) {
		return "", false, core.Errorf(core.DeliveryFailed, "The post has no part %d.", delivery.Part+1)
	}
	more = delivery.Part+1 < len(parts)
	if delivery.Kind == core.PostPrivate {
		ref, err = d.tell(ctx, delivery, parts[delivery.Part])
		return ref, more, err
	}
	if c, ok := commandOf(delivery); ok {
		ref, late, err := d.answer(ctx, c, delivery, parts[delivery.Part])
		if !late {
			return ref, more, err
		}
	}
	place, answered, err := d.place(ctx, delivery.To)
	if err != nil {
		return "", false, sendFault(err)
	}
	ref, err = d.post(ctx, place, answered, delivery, parts[delivery.Part])
	if err != nil {
		if core.CategoryOf(err) == core.DeliveryForbidden && begins(delivery.To) {
			d.out.threads.forget(delivery.To.Thread) // once the permission is mended, it may be opened
		}
		return "", false, err
	}
	if delivery.Kind != core.PostSteps {
		d.out.typing.stop(placeOf(delivery.To))
	}
	return ref, more, nil
}

// post sends a part to a channel, as a reply to a message where one is named.
func (d *Discord) post(ctx context.Context, channel, answered string, delivery core.Delivery, m drawn) (core.Ref, error) {
	out := d.out.paint.outgoing(delivery, m)
	out.Nonce, out.Enforce = d.out.paint.nonce(delivery), true
	if answered != "" {
		out.Reference = &reference{Message: answered}
	}
	var made sent
	if err := d.call(ctx, http.MethodPost, messagesOf(channel), out, &made); err != nil {
		return "", sendFault(err)
	}
	if !isSnowflake(made.ID) {
		return "", core.Errorf(core.DeliveryInDoubt, "Discord's answer does not say which message it made.")
	}
	ref := refOf(channel, made.ID)
	if delivery.Kind == core.PostCard && unmarked(made.Content) != unmarked(out.Content) { // Discord knows its nonce, and gave what was sent first
		if err := d.Edit(ctx, ref, delivery); err != nil {
			return "", core.Wrap(core.DeliveryInDoubt, err, "The card is there as it was sent first, and could not be redrawn.")
		}
	}
	return ref, nil
}

func messagesOf(channel string) string { return "/channels/" + channel + "/messages" }

// parts draws the whole post. The answer of a long text is kept until its last part is out: it takes a while to draw.
func (d *Discord) parts(delivery core.Delivery) ([]drawn, error) {
	if delivery.Kind == core.PostReply && len(delivery.Text) > maxReply {
		return d.out.long.parts(delivery, func() ([]drawn, error) { return d.out.paint.draw(delivery, "") })
	}
	link := ""
	if delivery.Copy && delivery.Card != nil {
		link = linkTo(guildIn(delivery.Conversation), delivery.Card.From)
	}
	return d.out.paint.draw(delivery, link)
}

// Edit redraws a message. A thread that has been archived meanwhile is opened again for it.
func (d *Discord) Edit(ctx context.Context, ref core.Ref, delivery core.Delivery) error {
	channel, id, ok := strings.Cut(string(ref), "/")
	if !ok || !isSnowflake(channel) || !isSnowflake(id) {
		return core.Errorf(core.DeliveryFailed, "The post's reference %q is not Discord's.", ref)
	}
	if delivery.Kind == core.PostPrivate {
		return nil // what was said to one person is not changed
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return err
	}
	c, answers := commandOf(delivery)
	if answers {
		if again, late, err := d.answer(ctx, c, delivery, parts[0]); !late && (err != nil || again == ref) {
			return err
		}
	}
	out := d.out.paint.outgoing(delivery, parts[0])
	err = d.call(ctx, http.MethodPatch, messagesOf(channel)+"/"+id, out, nil)
	if isRefusal(err, codeThreadArchived) {
		if err := d.call(ctx, http.MethodPatch, "/channels/"+channel, map[string]any{"archived": false}, nil); err != nil {
			return sendFault(err)
		}
		err = d.call(ctx, http.MethodPatch, messagesOf(channel)+"/"+id, out, nil)
	}
	if answers && isRefusal(err, codeUnknownMessage) {
		return nil // only its person sees it, and it can't be changed any more
	}
	return sendFault(err)
}

func refOf(channel, id string) core.Ref { return core.Ref(channel + "/" + id) }

// linkTo gives a link to a conversation, "" where there is none to give.
func linkTo(guild string, at core.Address) string {
	channel := at.Channel
	if at.Thread != "" {
		channel = at.Thread
	}
	if !isSnowflake(channel) || !isSnowflake(guild) {
		return "" // only its person can open direct messages
	}
	return "https://discord.com/channels/" + guild + "/" + channel
}

// guildIn is the server of a conversation; direct: it is between one person and the bot.
func guildIn(l core.ConversationID) string {
	guild, _, _ := strings.Cut(strings.TrimPrefix(string(l), Name+":"), ":")
	return guild
}
