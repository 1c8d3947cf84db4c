package discordtest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Routes of messages.
const (
	CreateMessage = "POST /channels/{channel}/messages"
	ListMessages  = "GET /channels/{channel}/messages"
	GetMessage    = "GET /channels/{channel}/messages/{message}"
	EditMessage   = "PATCH /channels/{channel}/messages/{message}"
	DeleteMessage = "DELETE /channels/{channel}/messages/{message}"
)

var messageRoutes = map[string]route{
	CreateMessage: {do: inChannel(createMessage)},
	ListMessages:  {do: inChannel(listMessages)},
	GetMessage:    {do: inChannel(getMessage)},
	EditMessage:   {do: onMessage(editMessage)},
	DeleteMessage: {do: onMessage(deleteMessage)},
}

// onMessage finds the message of a call.
func onMessage(do func(*request, *channel, *record) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return inChannel(func(q *request, c *channel) (answer, *form.Failure) {
		r := c.byID[q.path["message"]]
		if r == nil || !r.Shows() {
			return answer{}, form.UnknownMessage
		}
		return do(q, c, r)
	})
}

// nonce is an enforced nonce and the message that it made.
type nonce struct {
	message string
	at      time.Time
}

// needToSend returns the failure of a call if the bot may not post in a channel.
func (s *Server) needToSend(c *channel) *form.Failure {
	if c.Kind == Forum {
		return form.WrongChannel
	}
	permission := SendMessages
	if c.isThread() {
		permission = SendInThreads
	}
	if f := s.need(c, permission); f != nil {
		return f
	}
	if c.Locked && s.permissions(c, s.o.BotUserID)&ManageThreads == 0 {
		return form.ThreadLocked
	}
	return nil
}

func createMessage(q *request, c *channel) (answer, *form.Failure) {
	s := q.s
	if f := s.needToSend(c); f != nil {
		return answer{}, f
	}
	m, f := q.content(c)
	if f != nil {
		return answer{}, f
	}
	key := c.ID + " " + m.Nonce
	if old, seen := s.nonces[key]; m.Enforced && seen && s.o.Now().Sub(old.at) < s.o.NonceLifetime {
		if r := c.byID[old.message]; r != nil {
			o := s.read(r.Message)
			o["nonce"] = m.Nonce
			return ok(o)
		}
	}
	if reference, is := q.fields["message_reference"].(object); is {
		m.ReplyTo, m.Type = wire.String(reference, "message_id"), wire.TypeReply
		if c.byID[m.ReplyTo] == nil {
			if required, said := reference["fail_if_not_exists"].(bool); !said || required {
				return answer{}, form.BadField("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
			}
			m.ReplyTo, m.Type = "", wire.TypeDefault
		}
	}
	s.mention(&m)
	r := s.add(c, m)
	if m.Enforced && m.Nonce != "" {
		s.nonces[key] = nonce{message: r.ID, at: s.o.Now()}
	}
	s.emitMessage("MESSAGE_CREATE", r.Message, actionOptions{})
	o := s.read(r.Message)
	if m.Nonce != "" {
		o["nonce"] = m.Nonce
	}
	return ok(o)
}

// content reads a new message of the bot from a body, and checks it as Discord does.
func (q *request) content(c *channel) (Message, *form.Failure) {
	f := q.fields
	m := Message{
		Author: q.s.o.BotUserID, Content: strings.TrimSpace(wire.String(f, "content")), Embeds: wire.List(f, "embeds"),
		Components: wire.List(f, "components"),
		Allowed:    rawJSON(f, "allowed_mentions"),
		Flags: wire.Int(f,
			"flags") & (wire.FlagSuppressEmbeds | wire.FlagSuppressNotifications | wire.FlagComponentsV2),
		Channel: c.ID, Guild: c.Guild,
	}
	bad := &form.Errors{}
	form.CheckContent(f, bad)
	switch n := f["nonce"].(type) {
	case string:
		m.Nonce = n
	case float64:
		m.Nonce = strconv.FormatFloat(n, 'f', -1, 64)
	}
	m.Enforced = wire.Bool(f, "enforce_nonce")
	if failed := bad.Failure(); failed != nil {
		return m, failed
	}
	for _, file := range q.files {
		m.Attachments = append(m.Attachments, q.s.storeAttachment(c, file))
	}
	if m.Flags&wire.FlagComponentsV2 == 0 && m.Content == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 &&
		len(m.Components) == 0 {
		return m, form.EmptyMessage
	}
	if wire.Int(f, "flags")&wire.FlagEphemeral != 0 {
		return m, nil
	}
	return m, q.s.moderated(c, m)
}

func editMessage(q *request, c *channel, r *record) (answer, *form.Failure) {
	s := q.s
	if r.Author != s.o.BotUserID {
		if _, content := q.fields["content"]; content || len(q.fields) != 1 || q.fields["flags"] == nil {
			return answer{}, form.NotAuthor
		}
		if f := s.need(c, ManageMessages); f != nil {
			return answer{}, f
		}
	}
	if c.Archived {
		return answer{}, form.ThreadArchived
	}
	if f := q.edit(c, r); f != nil {
		return answer{}, f
	}
	return ok(s.read(r.Message))
}

// edit changes a message by the fields of the body.
func (q *request) edit(c *channel, r *record) *form.Failure {
	s, f := q.s, q.fields
	bad := &form.Errors{}
	form.CheckContent(f, bad)
	if failed := bad.Failure(); failed != nil {
		return failed
	}
	m := r.Message
	if value, given := f["content"]; given {
		m.Content, _ = value.(string)
		m.Content = strings.TrimSpace(m.Content)
	}
	if _, given := f["embeds"]; given {
		m.Embeds = wire.List(f, "embeds")
	}
	if _, given := f["components"]; given {
		m.Components = wire.List(f, "components")
	}
	if _, given := f["allowed_mentions"]; given {
		m.Allowed = rawJSON(f, "allowed_mentions")
	} else {
		m.Allowed = nil
	}
	if _, given := f["flags"]; given {
		const may = wire.FlagSuppressEmbeds
		m.Flags = m.Flags&^may | wire.Int(f, "flags")&(may|wire.FlagComponentsV2) // the latter can't be taken away
	}
	if _, given := f["attachments"]; given {
		keep := wire.List(f, "attachments")
		m.Attachments = slices.DeleteFunc(slices.Clone(m.Attachments), func(a Attachment) bool {
			return !slices.ContainsFunc(keep, func(k object) bool { return wire.String(k, "id") == a.ID })
		})
	}
	for _, file := range q.files {
		m.Attachments = append(slices.Clone(m.Attachments), s.storeAttachment(c, file))
	}
	if m.Content == "" && len(m.Embeds) == 0 && len(m.Attachments) == 0 && len(m.Components) == 0 {
		return form.EmptyMessage
	}
	if failed := s.moderated(c, m); failed != nil {
		return failed
	}
	m.Flags &^= wire.FlagLoading
	s.mention(&m)
	m.EditedAt, m.Edits = s.o.Now(), m.Edits+1
	r.Message = m
	s.changed()
	s.emitMessage("MESSAGE_UPDATE", r.Message, actionOptions{})
	return nil
}

func deleteMessage(q *request, c *channel, r *record) (answer, *form.Failure) {
	if r.Author != q.s.o.BotUserID {
		if f := q.s.need(c, ManageMessages); f != nil {
			return answer{}, f
		}
	}
	if c.Archived {
		return answer{}, form.ThreadArchived
	}
	q.s.remove(c, r)
	return nothing()
}

// getMessage needs the permission to read the history, without which listMessages only finds nothing.
func getMessage(q *request, c *channel) (answer, *form.Failure) {
	if f := q.s.need(c, ReadMessageHistory); f != nil {
		return answer{}, f
	}
	read := func(q *request, _ *channel, r *record) (answer, *form.Failure) { return ok(q.s.read(r.Message)) }
	return onMessage(read)(q)
}

func listMessages(q *request, c *channel) (answer, *form.Failure) {
	s := q.s
	if c.Kind == Forum {
		return answer{}, form.WrongChannelType
	}
	limit := limitIn(q.query, 50)
	if c.Kind != DM && s.permissions(c, s.o.BotUserID)&ReadMessageHistory == 0 {
		return ok([]object{})
	}
	var readable []*record
	for _, r := range c.messages {
		if r.Shows() {
			readable = append(readable, r)
		}
	}
	found := []object{}
	for _, r := range page(readable, q.query, limit) {
		found = append(found, s.read(r.Message))
	}
	return ok(found)
}

// limitIn returns the limit of a query, which Discord's description bounds.
func limitIn(query url.Values, usual int) int {
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		return n
	}
	return usual
}

// page returns the messages before, after or around an id, at most limit, newest first.
func page(all []*record, query url.Values, limit int) []*record {
	at := func(id string) int { // the index of the first message that is not older than the id
		return slices.IndexFunc(append(slices.Clone(all), &record{Message: Message{ID: "18446744073709551615"}}),
			func(r *record) bool {
				return number(r.ID) >= number(id)
			})
	}
	from, to := max(0, len(all)-limit), len(all)
	switch {
	case query.Get("around") != "":
		i := at(query.Get("around"))
		from = max(0, i-limit/2)
		to = min(len(all), from+limit)
	case query.Get("before") != "":
		to = at(query.Get("before"))
		from = max(0, to-limit)
	case query.Get("after") != "":
		from = at(query.Get("after"))
		if from < len(all) && all[from].ID == query.Get("after") {
			from++
		}
		to = min(len(all), from+limit)
	}
	found := slices.Clone(all[from:to])
	slices.Reverse(found)
	return found
}
