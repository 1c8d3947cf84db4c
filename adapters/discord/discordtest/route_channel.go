package discordtest

import (
	"cmp"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Routes of channels.
const (
	GetChannel    = "GET /channels/{channel}"
	ModifyChannel = "PATCH /channels/{channel}"
	TriggerTyping = "POST /channels/{channel}/typing"
)

var channelRoutes = map[string]route{
	GetChannel: {do: inChannel(func(q *request, c *channel) (answer, *form.Failure) {
		return ok(q.s.wireChannel(c))
	})},
	ModifyChannel: {do: inChannel(modifyChannel)},
	TriggerTyping: {do: inChannel(func(q *request, c *channel) (answer, *form.Failure) {
		if f := q.s.needToSend(c); f != nil {
			return answer{}, f
		}
		q.s.typing[c.ID] = append(q.s.typing[c.ID], q.s.o.Now())
		q.s.changed()
		return nothing()
	})},
}

// inChannel finds the channel of a call, which the bot must see.
func inChannel(do func(*request, *channel) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		id := q.path["channel"]
		if number(id) == 0 {
			return answer{}, form.BadField("channel_id", "NUMBER_TYPE_COERCE", "Value %q is not snowflake.", id)
		}
		c := q.s.channels[id]
		switch {
		case c == nil:
			return answer{}, form.UnknownChannel
		case !q.s.botSees(c):
			return answer{}, form.MissingAccess
		}
		return do(q, c)
	}
}

func (s *Server) wireChannel(c *channel) object {
	o := object{"id": c.ID, "type": int(c.Kind), "flags": 0, "last_message_id": nil}
	if n := len(c.messages); n > 0 {
		o["last_message_id"] = c.messages[n-1].ID
	}
	if c.Kind == DM {
		o["recipients"] = []object{s.wireUser(c.user)}
		return o
	}
	o["guild_id"], o["name"], o["nsfw"], o["rate_limit_per_user"] = c.Guild, c.Name, false, 0
	if c.isThread() {
		o["parent_id"], o["owner_id"] = c.Parent, cmp.Or(c.Owner, "1")
		o["message_count"], o["member_count"], o["total_message_sent"] = len(c.messages), 1, len(c.messages)
		o["thread_metadata"] = object{
			"archived": c.Archived, "locked": c.Locked, "auto_archive_duration": max(60, c.AutoArchive),
			"archive_timestamp": wire.Timestamp(c.made), "create_timestamp": wire.Timestamp(c.made),
		}
		return o
	}
	overwrites := []object{}
	for _, w := range c.Overwrites {
		kind := 0
		if w.Member {
			kind = 1
		}
		overwrites = append(overwrites,
			object{"id": w.ID, "type": kind, "allow": permissionString(w.Allow), "deny": permissionString(w.Deny)})
	}
	o["topic"], o["position"], o["parent_id"], o["permission_overwrites"] = wire.StringOrNil(c.Topic), 0,
		wire.StringOrNil(c.Parent), overwrites
	if c.Kind == Forum {
		o["available_tags"] = []object{}
	}
	return o
}

func modifyChannel(q *request, c *channel) (answer, *form.Failure) {
	s := q.s
	if c.Kind == DM {
		return answer{}, form.WrongChannelType
	}
	if c.isThread() && (c.Locked || c.Owner != s.o.BotUserID) {
		if f := s.need(c, ManageThreads); f != nil {
			return answer{}, f
		}
	}
	if name, is := q.fields["name"].(string); is {
		if name == "" || len([]rune(name)) > 100 {
			return answer{}, form.BadField("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		}
		c.Name = name
	}
	if archived, is := q.fields["archived"].(bool); is {
		c.Archived = archived
	}
	if locked, is := q.fields["locked"].(bool); is {
		c.Locked = locked
	}
	if c.isThread() {
		s.emitThread("THREAD_UPDATE", c, nil)
	}
	s.changed()
	return ok(s.wireChannel(c))
}

// Typing returns the times at which the bot triggered the typing indicator of a channel. Discord shows each for 10 s,
// or until the bot posts.
func (s *Server) Typing(channel string) []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]time.Time{}, s.typing[channel]...)
}
