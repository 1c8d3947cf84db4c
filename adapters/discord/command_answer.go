package discord

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// A command gets one answer, in its channel. gatehouse at once announces the answer to Discord, and thereby fixes
// whether everyone sees it or only the person. The first post then becomes that answer, above which a question is
// repeated; further posts are separate messages. This works for 15 minutes, also where the bot may not post. After
// that, or if the announcement never reached Discord, the answer is an ordinary message: in the channel, or to the
// person alone as a direct message.
//
// Discord notifies nobody of an answer that was announced. So the card of a question is a follow-up, which notifies the
// approvers that it names, and the answer above it is the question alone.

// command is a command that waits for its answer.
type command struct {
	token
	endpoint string // of its answer
	given    time.Time
}

// errLate is the error of an answer for which it is too late, or that Discord does not expect.
var errLate = errors.New("Discord expects no answer to an interaction here")

// answers are the kinds of posts that can be the answer to a command.
var answers = []core.PostKind{core.PostReply, core.PostNotice, core.PostError, core.PostCard}

// commandOf returns the command that a post answers. Error: errLate if it answers none, or if Discord no longer accepts
// the command's token.
func (d *Discord) commandOf(ctx context.Context, delivery core.Delivery) (command, error) {
	id, _, ok := address.Command(delivery.To)
	if !ok || delivery.Part > 0 || !slices.Contains(answers, delivery.Kind) {
		return command{}, errLate
	}
	t, err := d.token(ctx, id)
	return command{t, discordgo.EndpointInteractionResponseActions(t.app, t.token), snowflake.Time(id)}, err
}

// with returns a part with the command's question above it, as far as there is room. A card says itself what it is
// about. The words that Discord refused may be those of the question, so it is not above the sentence in their place.
func (c command) with(delivery core.Delivery, part draw.Message) draw.Message {
	room := min(maxQuote, draw.MaxContent-max(safetext.Units(part.Text), safetext.Units(part.Plain))-1)
	if c.question != "" && part.Card == nil && room >= minQuote && !strings.HasPrefix(delivery.Key, core.InPlaceOf) {
		return part.Under(draw.Quote(c.question, room) + "\n")
	}
	return part
}

// asksFor reports whether a post is the card of a command's question.
func (c command) asksFor(delivery core.Delivery) bool {
	return delivery.Kind == core.PostCard && c.question != ""
}

// answerCommand sends a post as the answer to its command, or edits it if message is its id. Error: errLate if it
// answers none, if it is too late or Discord expects no answer, or if the command already has another one.
func (d *Discord) answerCommand(
	ctx context.Context, delivery core.Delivery, part draw.Message, message string,
) (core.Ref, error) {
	c, err := d.commandOf(ctx, delivery)
	switch {
	case err != nil:
		return "", err
	case !c.asksFor(delivery):
		return d.answer(ctx, c, delivery, c.with(delivery, part), message)
	case message != "":
		endpoint := discordgo.EndpointFollowupMessageActions(c.app, c.token.token, message)
		err = d.rest.Call(ctx, http.MethodPatch, endpoint, part.Outgoing(), nil)
		if isUnanswerable(err) {
			return "", errLate
		}
		return address.Ref(address.Channel(delivery.To), message), outbound.SendError(err)
	}
	question := core.Delivery{Post: core.Post{Key: delivery.Key + "/question", To: delivery.To}}
	_, err = d.answer(ctx, c, question, draw.Message{Text: draw.Quote(c.question, maxQuote)}, "")
	if err != nil && !errors.Is(err, errLate) {
		return "", err
	}
	var made posted
	endpoint := discordgo.EndpointFollowupMessage(c.app, c.token.token) + "?wait=true"
	err = d.rest.Call(ctx, http.MethodPost, endpoint, part.Outgoing(), &made)
	if isExpired(err) {
		return "", errLate
	}
	return d.taken(delivery, address.Channel(delivery.To), made, err)
}

// answerGrace is how long Discord may not know a command's answer: it may be ready before its announcement has arrived.
const answerGrace = 10 * time.Second

// answer sends the answer to a command, or edits it if message is its id. Error: as of answerCommand.
func (d *Discord) answer(
	ctx context.Context, c command, delivery core.Delivery, part draw.Message, message string,
) (core.Ref, error) {
	var now, made posted
	channel := address.Channel(delivery.To)
	err := d.rest.Get(ctx, c.endpoint, &now)
	switch {
	case err != nil:
		err = outbound.FindError(err)
	case now.ID != message && !d.isOrAwaits(now, delivery, part):
		return "", errLate
	default:
		err = d.call(ctx, http.MethodPatch, c.endpoint, channel, part, part.Outgoing(), &made)
	}
	if !isUnanswerable(err) {
		return d.taken(delivery, channel, made, err)
	}
	if now, _, _ := d.Clock(); now.Sub(c.given) < answerGrace {
		return "", outbound.Wait(time.Second, nil, "Discord does not expect the command's answer yet.")
	}
	return "", errLate
}

// isOrAwaits reports whether a command's answer is this post or is still to come.
func (d *Discord) isOrAwaits(answer posted, delivery core.Delivery, part draw.Message) bool {
	return answer.Flags&discordgo.MessageFlagsLoading != 0 ||
		answer.isPart(d.desk, delivery, part) && !d.isOther(answer.ID, delivery)
}

// findAnswer checks whether a post became its command's answer, "" if that is still to come. Error: errLate if this can
// no longer be determined, or if another post did.
func (d *Discord) findAnswer(
	ctx context.Context, c command, delivery core.Delivery, part draw.Message,
) (core.Ref, error) {
	var now posted
	err := d.rest.Get(ctx, c.endpoint, &now)
	switch {
	case isUnanswerable(err):
		return "", errLate
	case err != nil || now.Flags&discordgo.MessageFlagsLoading != 0:
		return "", err
	case d.isOrAwaits(now, delivery, c.with(delivery, part)):
		return address.Ref(address.Channel(delivery.To), now.ID), nil
	}
	return "", errLate
}

// isUnanswerable reports whether Discord refused an answer because it is too late, too early, or was deleted.
func isUnanswerable(err error) bool {
	return isExpired(err) || rest.IsRefusal(err, discordgo.ErrCodeUnknownMessage)
}

func isExpired(err error) bool {
	return rest.IsRefusal(err, discordgo.ErrCodeInvalidWebhookTokenProvided, discordgo.ErrCodeUnknownWebhook,
		discordgo.ErrCodeUnknownInteraction)
}

// Retries until the press is answered; before that Discord accepts no ephemeral message.
const (
	privateTries = 4
	privateRetry = 300 * time.Millisecond
)

// postPrivate sends a message to one person: an ephemeral one where they pressed, while the interaction lasts (15
// minutes). After that, or without an interaction, it is a direct message.
func (d *Discord) postPrivate(
	ctx context.Context, delivery core.Delivery, part draw.Message,
) (ref core.Ref, err error) {
	if id, ok := address.Interaction(delivery.To, address.PressPrefix); ok {
		t, err := d.token(ctx, id)
		if err == nil {
			ref, err = d.postEphemeral(ctx, t, delivery, part)
		}
		if !errors.Is(err, errLate) {
			return ref, err
		}
	}
	user, ok := address.User(delivery.Person)
	if !ok {
		return "",
			core.Errorf(core.DeliveryFailed, "The notice is for %q, who is not a user on Discord.", delivery.Person)
	}
	channel, err := d.guilds.DM(ctx, user)
	if err != nil {
		return "", findError(err)
	}
	ref, _, err = d.send(ctx, channel, "", delivery, part)
	return ref, err
}

// postEphemeral posts a message that only the person of an interaction sees. Error: errLate if the interaction has
// ended.
func (d *Discord) postEphemeral(
	ctx context.Context, t token, delivery core.Delivery, part draw.Message,
) (core.Ref, error) {
	out := part.Outgoing()
	out.Flags |= discordgo.MessageFlagsEphemeral
	for try := 1; ; try++ {
		var made posted
		endpoint := discordgo.EndpointFollowupMessage(t.app, t.token) + "?wait=true"
		err := d.rest.Call(ctx, http.MethodPost, endpoint, out, &made)
		switch {
		case try < privateTries && rest.IsRefusal(err, discordgo.ErrCodeUnknownWebhook) && ctx.Err() == nil:
			d.sleep(ctx, privateRetry) // the press itself may still be unanswered
		case isExpired(err):
			return "", errLate
		default:
			return address.Ref(delivery.To.Channel, made.ID), outbound.SendError(err)
		}
	}
}
