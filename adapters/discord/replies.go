package discord

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// A command gets one answer, in its channel. gatehouse at once announces the answer to Discord, and thereby fixes whether everyone sees it
// or only the person. The first post then becomes that answer, above which a question is repeated; further posts are separate messages. This
// works for 15 minutes, also where the bot may not post. After that, or if the announcement never reached Discord, the answer is an ordinary
// message: in the channel, or to the person alone as a direct message.
//
// Discord notifies nobody of an answer that was announced. So the card of a question is a follow-up, which notifies the approvers that it
// names, and the answer above it is the question alone.

// command is a command that waits for its answer.
type command struct {
	token
	endpoint string // of its answer
	given    time.Time
}

// commandOf returns the command that a post answers; ok is false if it answers none, or if Discord no longer accepts the command's token.
func (d *Discord) commandOf(ctx context.Context, delivery core.Delivery) (c command, ok bool, err error) {
	id, _, ok := commandIn(delivery.To)
	if !ok || delivery.Part > 0 {
		return command{}, false, nil
	}
	switch delivery.Kind {
	case core.PostReply, core.PostNotice, core.PostError, core.PostCard:
	default:
		return command{}, false, nil
	}
	t, ok, err := d.token(ctx, id)
	return command{token: t, endpoint: discordgo.EndpointInteractionResponseActions(t.app, t.token), given: snowflake.Time(id)}, ok, err
}

// with returns a part with the command's question above it, as far as there is room. A card says itself what it is about.
func (c command) with(part drawn) drawn {
	room := min(maxQuote, maxContent-max(chat.Units(part.Text), chat.Units(part.Plain))-1)
	if c.question != "" && part.Card == nil && room >= minQuote {
		return part.under(quote(c.question, room) + "\n")
	}
	return part
}

// asksFor reports whether a post is the card of a command's question.
func (c command) asksFor(delivery core.Delivery) bool {
	return delivery.Kind == core.PostCard && c.question != ""
}

// followUp posts a card below the answer of its command, which becomes the question. late: Discord no longer accepts the command's token.
func (d *Discord) followUp(ctx context.Context, c command, delivery core.Delivery, part drawn) (ref core.Ref, late bool, err error) {
	question, answer := drawn{Text: quote(c.question, maxQuote)}, c
	answer.question = "" // it is the whole answer
	if _, _, err := d.answerCommand(ctx, answer, core.Delivery{Post: core.Post{Key: delivery.Key + "/question", To: delivery.To}}, question, ""); err != nil {
		return "", false, err
	}
	var made posted
	err = d.rest.Call(ctx, http.MethodPost, discordgo.EndpointFollowupMessage(c.app, c.token.token)+"?wait=true", part.outgoing(), &made)
	switch {
	case isExpired(err):
		return "", true, nil
	case err != nil:
		return "", false, chat.SendError(err)
	case !snowflake.Valid(made.ID):
		return "", false, core.Errorf(core.DeliveryInDoubt, "Discord's answer does not contain the message's id.")
	}
	d.sent.Put(made.ID, partName(delivery))
	return refOf(channelOf(delivery.To), made.ID), false, nil
}

// editFollowUp redraws the card below a command's answer. late: this can no longer be done with the command's token.
func (d *Discord) editFollowUp(ctx context.Context, c command, message string, part drawn) (late bool, err error) {
	err = d.rest.Call(ctx, http.MethodPatch, discordgo.EndpointFollowupMessageActions(c.app, c.token.token, message), part.outgoing(), nil)
	if isUnanswerable(err) {
		return true, nil
	}
	return false, chat.SendError(err)
}

// answerGrace is how long Discord may not know a command's answer: it may be ready before its announcement has arrived.
const answerGrace = 10 * time.Second

// answerCommand sends the answer to a command, or edits it if message is its id. late: it is too late, Discord expects no answer, or the
// command already has another one.
func (d *Discord) answerCommand(ctx context.Context, c command, delivery core.Delivery, part drawn, message string) (ref core.Ref, late bool, err error) {
	part = c.with(part)
	var now, made posted
	err = d.rest.Call(ctx, http.MethodGet, c.endpoint, nil, &now)
	if err == nil && now.ID != message && !d.isOrAwaits(now, delivery, part) {
		return "", true, nil
	}
	if err == nil {
		err = d.call(ctx, http.MethodPatch, c.endpoint, channelOf(delivery.To), part, part.outgoing(), &made)
	} else {
		err = chat.FindError(err)
	}
	switch {
	case err == nil && !snowflake.Valid(made.ID):
		return "", false, core.Errorf(core.DeliveryInDoubt, "Discord's answer does not contain the message's id.")
	case err == nil:
		d.sent.Put(made.ID, partName(delivery))
		return refOf(channelOf(delivery.To), made.ID), false, nil
	case !isUnanswerable(err):
		return "", false, chat.SendError(err)
	}
	if now, _, _ := d.Clock(); now.Sub(c.given) < answerGrace {
		return "", false, chat.Wait(time.Second, nil, "Discord does not expect the command's answer yet.")
	}
	return "", true, nil
}

// isOrAwaits reports whether a command's answer is this post or is still to come.
func (d *Discord) isOrAwaits(answer posted, delivery core.Delivery, part drawn) bool {
	return answer.Flags&discordgo.MessageFlagsLoading != 0 || answer.isPart(d.desk, delivery, part) && !d.isOther(answer.ID, delivery)
}

// findAnswer checks whether a post became its command's answer. late: this can no longer be determined, or another post did.
func (d *Discord) findAnswer(ctx context.Context, c command, delivery core.Delivery, part drawn) (ref core.Ref, late bool, err error) {
	part = c.with(part)
	var now posted
	err = d.rest.Call(ctx, http.MethodGet, c.endpoint, nil, &now)
	switch {
	case isUnanswerable(err):
		return "", true, nil
	case err != nil:
		return "", false, err
	case now.Flags&discordgo.MessageFlagsLoading != 0:
		return "", false, nil
	case d.isOrAwaits(now, delivery, part):
		return refOf(channelOf(delivery.To), now.ID), false, nil
	}
	return "", true, nil
}

// isUnanswerable reports whether Discord refused an answer because it is too late, too early, or was deleted.
func isUnanswerable(err error) bool {
	return isExpired(err) || rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage)
}

func isExpired(err error) bool {
	return rest.IsRefusal(err, discordgo.ErrCodeInvalidWebhookTokenProvided, discordgo.ErrCodeUnknownWebhook, discordgo.ErrCodeUnknownInteraction)
}

// Retries until the press is answered; before that Discord accepts no ephemeral message.
const (
	privateTries = 4
	privateRetry = 300 * time.Millisecond
)

// postPrivate sends a message to one person: an ephemeral one where they pressed, while the interaction lasts (15 minutes). After that, or
// without an interaction, it is a direct message.
func (d *Discord) postPrivate(ctx context.Context, delivery core.Delivery, part drawn) (core.Ref, error) {
	if id, ok := interactionIn(delivery.To, pressPrefix); ok {
		t, ok, err := d.token(ctx, id)
		if err != nil {
			return "", err
		}
		if ok {
			ref, err := d.postEphemeral(ctx, t.app, t.token, delivery, part)
			if !isExpired(err) {
				return ref, chat.SendError(err)
			}
		}
	}
	user, ok := userOf(delivery.Person)
	if !ok {
		return "", core.Errorf(core.DeliveryFailed, "The notice is for %q, who is not a user on Discord.", delivery.Person)
	}
	channel, err := d.guilds.DM(ctx, user)
	if err != nil {
		return "", findError(err)
	}
	ref, _, err := d.send(ctx, channel, "", delivery, part)
	return ref, err
}

// postEphemeral posts a message that only the person of an interaction sees.
func (d *Discord) postEphemeral(ctx context.Context, app, token string, delivery core.Delivery, part drawn) (core.Ref, error) {
	out := part.outgoing()
	out.Flags |= discordgo.MessageFlagsEphemeral
	for try := 1; ; try++ {
		var made posted
		err := d.rest.Call(ctx, http.MethodPost, discordgo.EndpointFollowupMessage(app, token)+"?wait=true", out, &made)
		if err == nil {
			return refOf(delivery.To.Channel, made.ID), nil
		}
		if try == privateTries || !rest.IsRefusal(err, discordgo.ErrCodeUnknownWebhook) || ctx.Err() != nil {
			return "", err
		}
		d.sleep(ctx, privateRetry) // the press itself may still be unanswered
	}
}

// An interaction's token lets anyone who has it answer in the bot's name for fifteen minutes. So no event and no post contains it. They name
// the interaction, and the token is a short-lived value in the store, since another process may send the answer.

// tokenLife is how long Discord accepts a token.
const tokenLife = 15 * time.Minute

func tokenName(interaction string) string { return "discord/interaction/" + interaction }

// token is what is stored of an interaction so that it can be answered.
type token struct {
	app, token string
	question   string // that of /ask, "" of another command
}

// saveToken stores an interaction's token, with its application and its question.
func (d *Discord) saveToken(ctx context.Context, i interaction) error {
	value := i.App + "/" + i.Token
	if i.Data.Name == commandAsk {
		question, _ := chat.Head(storable(i.text()), maxQuote)
		value += "\n" + question
	}
	if err := d.KV.PutFor(ctx, tokenName(i.ID), value, tokenLife); err != nil {
		return core.Wrap(core.StoreBusy, err, "The token of an interaction could not be stored.")
	}
	return nil
}

// storable is a text as a store accepts it, with one kind of line end.
func storable(s string) string {
	return toStore.Replace(strings.ToValidUTF8(s, "\ufffd"))
}

var toStore = strings.NewReplacer("\x00", "\ufffd", "\r\n", "\n")

// token returns what is stored of an interaction; ok is false if it is too late to answer.
func (d *Discord) token(ctx context.Context, interaction string) (t token, ok bool, err error) {
	value, err := d.KV.Get(ctx, tokenName(interaction))
	if err != nil {
		return token{}, false, core.Wrap(core.DeliveryLater, err, "The token of an interaction could not be read from the store.")
	}
	value, t.question, _ = strings.Cut(value, "\n")
	t.app, t.token, ok = strings.Cut(value, "/")
	return t, ok && snowflake.Valid(t.app) && t.token != "" && !strings.ContainsAny(t.token, "/?#%"), nil
}
