package discordtest

import (
	"net/http"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// AnswerInteraction is the route of first answers, as calls and faults name it.
const AnswerInteraction = "POST /interactions/{interaction}/{token}/callback"

var interactionRoutes = map[string]route{
	AnswerInteraction: {open: true, ungoverned: true, do: answerInteraction},
}

func answerInteraction(q *request) (answer, *form.Failure) {
	s := q.s
	i := s.byToken[q.path["token"]]
	if i == nil || i.ID != q.path["interaction"] {
		return answer{}, form.UnknownInteraction
	}
	if f := s.answer(i, q); f != nil {
		return answer{}, f
	}
	if q.query.Get("with_response") != "true" {
		return nothing()
	}
	o := object{"interaction": object{
		"id": i.ID, "type": int(i.Kind), "response_message_id": wire.StringOrNil(i.original),
		"response_message_loading": i.answered == DeferredReply,
	}}
	if c := s.channels[i.Channel]; c != nil && i.original != "" && (i.answered == Reply || i.answered == Update) {
		if r := c.find(i.original); r != nil {
			o["resource"] = object{"type": int(i.answered), "message": s.wireMessage(r.Message)}
		}
	}
	return ok(o)
}

// answer processes the first answer to an interaction, from the callback route or the HTTP response. The caller holds
// the lock.
func (s *Server) answer(i *Interaction, q *request) *form.Failure {
	now := s.o.Now()
	if i.answered != 0 {
		return form.AlreadyAnswered
	}
	if i.failed != "" || now.Sub(i.At) > i.s.o.AnswerWithin {
		return form.UnknownInteraction
	}
	kind := CallbackKind(wire.Int(q.fields, "type"))
	data, _ := q.fields["data"].(object)
	sub := &request{s: s, parts: parts{fields: data, files: q.files}}
	if data == nil {
		sub.fields = object{}
	}
	if f := i.take(kind, sub); f != nil {
		return f
	}
	i.answered, i.answeredAt = kind, now
	if !i.over {
		i.over = true
		close(i.done)
	}
	s.changed()
	return nil
}

var badCallback = form.BadField("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 8, 9, 10, 12}.")

// take performs a first answer.
func (i *Interaction) take(kind CallbackKind, q *request) *form.Failure {
	s := i.s
	c := s.channels[i.Channel]
	switch kind {
	case Pong:
		if i.Kind != Ping {
			return badCallback
		}
	case Reply:
		r, f := i.say(c, q)
		if f != nil {
			return f
		}
		i.original = r.ID
	case DeferredReply:
		m := Message{Author: s.o.BotUserID, Flags: wire.FlagLoading, Interaction: i.ID, Type: i.messageType()}
		if wire.Int(q.fields, "flags")&wire.FlagEphemeral != 0 {
			m.Ephemeral, m.Flags = i.User, m.Flags|wire.FlagEphemeral
		}
		r := s.add(c, m)
		s.emitMessage("MESSAGE_CREATE", r.Message, actionOptions{})
		i.original = r.ID
	case DeferredUpdate, Update:
		if i.Message == "" {
			return badCallback
		}
		i.original = i.Message
		if r := c.find(i.Message); r != nil && kind == Update {
			return q.edit(c, r)
		}
	case ShowModal:
		if i.Kind == Submit || i.Kind == Ping {
			return badCallback
		}
		modal, f := form.ReadModal(q.fields)
		if f != nil {
			return f
		}
		modal.User, modal.Channel, modal.Message = i.User, i.Channel, i.Message
		s.modals[i.User] = modal
	default:
		return badCallback
	}
	return nil
}

// messageType is the type of a message that answers the interaction.
func (i *Interaction) messageType() int {
	if i.Kind == Command {
		return wire.TypeCommand
	}
	return wire.TypeReply
}

// say posts a message that belongs to the interaction: its answer or a follow-up.
func (i *Interaction) say(c *channel, q *request) (*record, *form.Failure) {
	s := i.s
	m, f := q.content(c)
	if f != nil {
		return nil, f
	}
	m.Interaction = i.ID
	if i.Kind == Command {
		m.Type = wire.TypeCommand
	}
	if wire.Int(q.fields, "flags")&wire.FlagEphemeral != 0 {
		m.Ephemeral, m.Flags = i.User, m.Flags|wire.FlagEphemeral
	}
	s.mention(&m)
	r := s.add(c, m)
	s.emitMessage("MESSAGE_CREATE", r.Message, actionOptions{})
	return r, nil
}

// Routes of follow-ups and of edits of the first answer. They use the interaction's token instead of the bot's.
const (
	FollowUp       = "POST /webhooks/{application}/{token}"
	GetFollowUp    = "GET /webhooks/{application}/{token}/messages/{message}"
	EditFollowUp   = "PATCH /webhooks/{application}/{token}/messages/{message}"
	DeleteFollowUp = "DELETE /webhooks/{application}/{token}/messages/{message}"
)

var webhookRoutes = map[string]route{
	FollowUp: {
		open: true, ungoverned: true,
		do: withToken(func(q *request, i *Interaction, c *channel) (answer, *form.Failure) {
			if r := c.find(i.original); r != nil && r.Flags&wire.FlagLoading != 0 {
				return q.editAnswer(c, r) // the first follow-up to a deferred answer is that answer
			}
			r, f := i.say(c, q)
			if f != nil {
				return answer{}, f
			}
			i.followUps++
			return ok(q.s.wireMessage(r.Message))
		}),
	},
	GetFollowUp: {
		open: true, ungoverned: true, do: onAnswer(func(q *request, _ *channel, r *record) (answer, *form.Failure) {
			return ok(q.s.wireMessage(r.Message))
		}),
	},
	EditFollowUp: {
		open: true, ungoverned: true, do: onAnswer(func(q *request, c *channel, r *record) (answer, *form.Failure) {
			return q.editAnswer(c, r)
		}),
	},
	DeleteFollowUp: {
		open: true, ungoverned: true, do: onAnswer(func(q *request, c *channel, r *record) (answer, *form.Failure) {
			q.s.remove(c, r)
			return nothing()
		}),
	},
}

func (q *request) editAnswer(c *channel, r *record) (answer, *form.Failure) {
	if f := q.edit(c, r); f != nil {
		return answer{}, f
	}
	return answer{http.StatusOK, q.s.wireMessage(r.Message)}, nil
}

// withToken finds the interaction of a call. It must have been answered, and its token must not have expired.
func withToken(
	do func(*request, *Interaction, *channel) (answer, *form.Failure),
) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		s := q.s
		i := s.byToken[q.path["token"]]
		switch {
		case i == nil && q.path["application"] == s.o.ApplicationID:
			return answer{}, form.BadWebhookToken
		case i == nil || q.path["application"] != s.o.ApplicationID || i.answered == 0:
			return answer{}, form.UnknownWebhook
		case s.o.Now().Sub(i.At) > TokenLifetime:
			return answer{}, form.BadWebhookToken
		}
		c := s.channels[i.Channel]
		if c == nil {
			return answer{}, form.UnknownChannel
		}
		return do(q, i, c)
	}
}

// onAnswer finds the message of a call: @original is the first answer, or the message that a button was on.
func onAnswer(do func(*request, *channel, *record) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return withToken(func(q *request, i *Interaction, c *channel) (answer, *form.Failure) {
		id := q.path["message"]
		if id == "@original" {
			id = i.original
		}
		r := c.find(id)
		if r == nil || (r.Interaction != i.ID && r.ID != i.original) {
			return answer{}, form.UnknownMessage
		}
		return do(q, c, r)
	})
}
