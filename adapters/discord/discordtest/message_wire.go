package discordtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"mime"
	"path"
	"slices"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

func (s *Server) wireUser(id string) object {
	u := s.users[id]
	if u == nil {
		u = &User{ID: id, Name: "deleted"}
	}
	o := object{
		"id": u.ID, "username": u.Name, "discriminator": "0", "global_name": cmp.Or(u.DisplayName, u.Name),
		"avatar": nil, "public_flags": 0, "flags": 0, "primary_guild": nil, "clan": nil,
	}
	if u.IsBot || u.IsWebhook {
		o["bot"], o["global_name"], o["discriminator"] = true, nil, "0001"
	}
	return o
}

// wireMember encodes a member of a guild, with the user only if the user is not next to it.
func (s *Server) wireMember(g *guild, user string, withUser bool) object {
	m := g.members[user]
	if m == nil {
		m = &member{user: user, joined: g.joined}
	}
	o := object{
		"nick": wire.StringOrNil(m.nick), "avatar": nil, "banner": nil, "roles": g.rolesOf(user),
		"joined_at": wire.Timestamp(m.joined), "premium_since": nil, "deaf": false, "mute": false,
		"flags": 0, "pending": false, "communication_disabled_until": nil,
	}
	if m.timedOutUntil.After(s.o.Now()) {
		o["communication_disabled_until"] = wire.Timestamp(m.timedOutUntil)
	}
	if withUser {
		o["user"] = s.wireUser(user)
	}
	return o
}

// wireMessage encodes a message as REST returns it.
func (s *Server) wireMessage(m Message) object {
	mentions := []object{}
	for _, id := range m.Mentions {
		mentions = append(mentions, s.wireUser(id))
	}
	o := object{
		"id": m.ID, "type": m.Type, "channel_id": m.Channel, "author": s.wireUser(m.Author), "content": m.Content,
		"timestamp":        wire.Timestamp(m.At),
		"edited_timestamp": wire.TimestampOrNil(m.EditedAt), "tts": false, "mention_everyone": m.Everyone,
		"mentions": mentions, "mention_roles": wire.NotNil(m.Roles),
		"attachments": s.wireAttachments(m), "embeds": wire.NotNil(m.Embeds),
		"components": wire.Components(m.Components), "pinned": false, "flags": m.Flags,
	}
	if m.Flags&wire.FlagSuppressEmbeds != 0 {
		o["embeds"] = []object{}
	}
	if m.ReplyTo != "" {
		c := s.channels[m.Channel]
		place := c
		if m.Type == wire.TypeThreadStarter {
			place = s.channels[c.Parent]
		}
		reference := object{"type": 0, "message_id": m.ReplyTo, "channel_id": place.ID}
		if m.Guild != "" {
			reference["guild_id"] = m.Guild
		}
		o["message_reference"], o["referenced_message"] = reference, nil
		if r := place.byID[m.ReplyTo]; r != nil {
			inner := r.Message
			inner.ReplyTo = ""
			o["referenced_message"] = s.wireMessage(inner)
		}
	}
	if f := m.Forwards; f != nil {
		inner, shown := s.wireMessage(*f), object{}
		for _, key := range []string{
			"type", "content", "mentions", "mention_roles", "attachments", "embeds", "timestamp", "edited_timestamp",
			"flags", "components", "sticker_items",
		} {
			if value, there := inner[key]; there {
				shown[key] = value
			}
		}
		o["message_reference"] = object{"type": 1, "message_id": f.ID, "channel_id": f.Channel}
		o["message_snapshots"] = []object{{"message": shown}}
	}
	if t := s.channels[m.Thread]; t != nil {
		o["thread"] = s.wireChannel(t)
	}
	if u := s.users[m.Author]; u != nil && u.IsWebhook {
		o["webhook_id"] = u.ID
	}
	if m.Interaction != "" {
		o["webhook_id"], o["application_id"] = s.o.ApplicationID, s.o.ApplicationID
	}
	maps.Copy(o, m.Fields)
	return o
}

func (s *Server) wireAttachments(m Message) []object {
	found := []object{}
	for _, a := range m.Attachments {
		if s.files["/attachments/"+m.Channel+"/"+a.ID+"/"+a.Name] != nil {
			a.URL = s.signed(a.URL)
		}
		o := object{
			"id": a.ID, "filename": a.Name, "size": a.Size, "url": a.URL, "proxy_url": a.URL,
			"content_type": a.ContentType, "flags": 0,
		}
		if a.Untyped {
			delete(o, "content_type")
		}
		if a.Width > 0 {
			o["width"], o["height"] = a.Width, a.Height
		}
		if a.Description != "" {
			o["description"] = a.Description
		}
		found = append(found, o)
	}
	return found
}

// wireEvent encodes a message as the gateway sends it: with the guild and the author's member.
func (s *Server) wireEvent(m Message) object {
	o := s.wireMessage(m)
	if g := s.guilds[m.Guild]; g != nil {
		o["guild_id"] = g.ID
		if g.members[m.Author] != nil {
			o["member"] = s.wireMember(g, m.Author, false)
		}
	}
	if !s.o.NoChannelType {
		o["channel_type"] = int(s.channels[m.Channel].Kind)
	}
	return o
}

// withoutContent returns a message without the fields that need the message content intent.
func withoutContent(o object) object {
	bare := maps.Clone(o)
	bare["content"] = ""
	for _, key := range []string{"attachments", "embeds", "components"} {
		bare[key] = []object{}
	}
	delete(bare, "message_snapshots")
	delete(bare, "poll")
	if inner, ok := bare["referenced_message"].(object); ok {
		bare["referenced_message"] = withoutContent(inner)
	}
	return bare
}

// readableWithoutIntent reports whether an app without the message content intent receives the message's content: its
// own messages, those in DMs and those that mention it.
func (s *Server) readableWithoutIntent(m Message) bool {
	return m.Guild == "" || m.Author == s.o.BotUserID || slices.Contains(m.Mentions, s.o.BotUserID)
}

// read encodes a message as REST returns it to this app.
func (s *Server) read(m Message) object {
	o := s.wireMessage(m)
	if s.denied&gateway.IntentMessageContent != 0 && !s.readableWithoutIntent(m) {
		return withoutContent(o)
	}
	return o
}

// emitMessage sends the event of a message. Only the event of its creation has the nonce.
func (s *Server) emitMessage(name string, m Message, h actionOptions) {
	if h.noEvent || m.Ephemeral != "" {
		return
	}
	c := s.channels[m.Channel]
	o := s.wireEvent(m)
	maps.Copy(o, h.sent)
	if name == "MESSAGE_CREATE" && m.Nonce != "" {
		o["nonce"] = m.Nonce
	}
	e := gateway.Event{
		Name: name, Guild: m.Guild, Intent: intentFor(c, gateway.IntentGuildMessages, gateway.IntentDirectMessages),
		Full: o,
	}
	if !s.readableWithoutIntent(m) {
		e.WithoutContent = withoutContent(o)
	}
	for range max(1, h.copies) {
		s.emit(c, e)
	}
}

// storeAttachment gives an attachment its id, size, type and URL, and keeps its bytes.
func (s *Server) storeAttachment(c *channel, a Attachment) Attachment {
	if a.ID == "" {
		a.ID = s.newID()
	}
	a.Size = cmp.Or(a.Size, len(a.Data))
	a.ContentType = cmp.Or(a.ContentType, mime.TypeByExtension(path.Ext(a.Name)))
	if a.URL == "" {
		a.URL = s.storeFile("/attachments/"+c.ID+"/"+a.ID+"/"+a.Name, a)
	}
	return a
}

// storeFile keeps the bytes of a file of the CDN, and returns its address.
func (s *Server) storeFile(where string, a Attachment) string {
	s.files[where] = &storedFile{data: a.Data, kind: a.ContentType}
	return s.signed(cmp.Or(s.o.CDN, s.base) + where)
}

// rawJSON returns a field as JSON, nil if it was not sent.
func rawJSON(o object, key string) json.RawMessage {
	value, ok := o[key]
	if !ok {
		return nil
	}
	return fakeserver.JSON(value)
}
