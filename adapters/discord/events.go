package discord

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// takeEvent takes an event of the gateway up to its commit.
func (d *Discord) takeEvent(ctx context.Context, event string, data []byte) chat.Result {
	d.mu.Lock()
	accept := d.accept
	d.mu.Unlock()
	switch event {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return d.takeMessage(ctx, event, data, accept)
	case "INTERACTION_CREATE":
		i, answer, result := d.takeInteraction(ctx, data, accept)
		if result == chat.Stored {
			d.respond(i, answer)
		}
		return result
	}
	if err := d.guilds.Update(event, data); err != nil {
		d.Log.Warn("what Discord tells of its servers can't be read and is ignored", "event", event, "bytes", len(data), "err", chat.JSONFault(err))
	}
	return chat.Stored
}

// takeMessage takes a message, a change or a deletion up to its commit.
func (d *Discord) takeMessage(ctx context.Context, event string, data []byte, accept core.Accept) chat.Result {
	events, err := d.eventsOf(ctx, event, data)
	switch {
	case core.CategoryOf(err) == core.ProviderUnavailable:
		d.Log.Warn("a message waits until Discord tells where it belongs", "err", err)
		return chat.NotStored
	case err != nil:
		d.Log.Warn("an event can't be read and is ignored", "event", event, "bytes", len(data), "err", chat.JSONFault(err))
		return chat.Malformed
	}
	for _, e := range events {
		if r := chat.Commit(ctx, d.Log, e, accept, storeAgain); r != chat.Stored {
			return r
		}
	}
	return chat.Stored
}

// eventsOf makes our events of what the gateway tells of messages. Error: provider_unavailable where Discord must be asked and can't be.
func (d *Discord) eventsOf(ctx context.Context, event string, data []byte) ([]core.Event, error) {
	var m message
	if event == "MESSAGE_DELETE_BULK" {
		var bulk struct {
			IDs     []string `json:"ids"`
			Channel string   `json:"channel_id"`
		}
		if err := json.Unmarshal(data, &bulk); err != nil {
			return nil, err
		}
		var events []core.Event
		for _, id := range bulk.IDs {
			events = append(events, deletion(bulk.Channel, id)...)
		}
		return events, nil
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if event == "MESSAGE_DELETE" {
		return deletion(m.Channel, m.ID), nil
	}
	isUpdate := event == "MESSAGE_UPDATE"
	if isUpdate && !d.justEdited(m) {
		return d.edit(m, data), nil
	}
	e, ok, err := d.messageEvent(ctx, m, data)
	if err != nil {
		return nil, err
	}
	if !ok || isUpdate && e.FollowUp {
		return d.edit(m, data), nil
	}
	return append([]core.Event{e}, d.edit(m, data)...), nil // where it was edited before it came, it is known as it stands
}

// justNow is how long after an edit a message counts as one that may have been addressed to the bot by it.
const justNow = 5 * time.Minute

// justEdited reports a message of a server that its author edited a moment ago: who forgot to mention the bot may have done it now.
func (d *Discord) justEdited(m message) bool {
	at, err := time.Parse(time.RFC3339, m.Edited)
	return err == nil && m.Guild != "" && d.Now().Sub(at) < justNow
}

// byPerson reports a message that a person wrote. Whatever a bot said, this one or another, starts nothing: two bots could go on for
// ever. Nor does what a webhook or Discord itself said.
func (d *Discord) byPerson(m message) bool {
	return m.Author != nil && snowflake.Valid(m.Author.ID) && !m.Author.Bot && !m.Author.System && m.Webhook == "" && m.Author.ID != d.whoami().User &&
		snowflake.Valid(m.ID) && snowflake.Valid(m.Channel) && (m.Guild == "" || snowflake.Valid(m.Guild)) &&
		(m.Type == discordgo.MessageTypeDefault || m.Type == discordgo.MessageTypeReply)
}

// messageEvent makes the event of a new message; ok is false for what does not concern the bot.
func (d *Discord) messageEvent(ctx context.Context, m message, body []byte) (e core.Event, ok bool, err error) {
	if !d.byPerson(m) {
		return core.Event{}, false, nil
	}
	e = core.Event{
		Platform: Name, ID: messageID(m.Channel, m.ID), Body: core.MessageEvent{}, Actor: actorOf(m.Author.ID), Payload: body,
		Address: core.Address{Platform: Name, Channel: m.Channel, Message: m.ID},
	}
	me := d.whoami().User
	role, err := d.roleOf(ctx, m, me)
	if err != nil {
		return core.Event{}, false, err
	}
	rest, mentioned := addressed(m, me, role)
	guild := direct
	if m.Guild != "" {
		guild = m.Guild
		if ok, err = d.place(ctx, m, mentioned, &e); err != nil || !ok {
			return core.Event{}, false, err
		}
	}
	e.Conversation = conversationOf(guild, e.Address)
	if control := chat.Control(rest); control != nil {
		e.Body = control
	}
	return e, true, nil
}

// place says where a message of a server is answered, and whether it is a follow-up; ok is false for what does not concern the bot.
func (d *Discord) place(ctx context.Context, m message, mentioned bool, e *core.Event) (ok bool, err error) {
	answersBot := m.answersBot(d.whoami().User)
	if !mentioned && !answersBot && m.Content == "" && len(m.Attachments) == 0 {
		return false, nil // its content is withheld: it does not concern the bot
	}
	at, err := d.guilds.Channel(ctx, m.Channel)
	if err != nil {
		return false, err
	}
	switch {
	case at.IsThread():
		e.Address.Channel, e.Address.Thread = at.Parent, m.Channel
		e.FollowUp = !mentioned && !answersBot
		if m.ID == m.Channel { // it begins a forum's post: there is no thread to be opened
			e.Address.Message = ""
		}
	case answersBot, mentioned && (d.Config.Reply == replyChannel || at.IsVoice()): // what the bot said in a channel itself belongs to its conversation there
	case mentioned:
		e.Address.Thread = m.ID // the thread that the answer opens
	default:
		return false, nil
	}
	return true, nil
}

// knows reports whether Discord need not be asked where a message belongs.
func (d *Discord) knows(at gateway.Location) bool {
	return d.guilds.Knows(at.Channel, at.Guild, len(at.Roles) > 0)
}

// edit makes the amendment of a message that its author edited. What Discord adds (embeds, a thread) leaves the time of the author's last
// edit as it was, so it is known or, where there was none, no amendment. Nor is one whose content is withheld.
func (d *Discord) edit(m message, body []byte) []core.Event {
	withheld := m.Guild != "" && m.Content == "" && len(m.Attachments) == 0 && !d.readsContent()
	if !d.byPerson(m) || m.Edited == "" || withheld {
		return nil
	}
	rest, _ := addressed(m, d.whoami().User, "")
	return []core.Event{amendment(m.Channel, m.ID, m.Author.ID, core.Amendment{
		Revision: m.Edited, Payload: body, Text: strings.TrimSpace(readable(rest, d.namesIn(m))),
	})}
}

// revisionDeleted is the revision of a deletion: greater than every time of an edit.
const revisionDeleted = "deleted"

// deletion makes the amendment of a message that was deleted. Discord does not say by whom.
func deletion(channel, id string) []core.Event {
	if !snowflake.Valid(channel) || !snowflake.Valid(id) {
		return nil
	}
	return []core.Event{amendment(channel, id, "", core.Amendment{Revision: revisionDeleted})}
}

func amendment(channel, id, by string, a core.Amendment) core.Event {
	key := messageID(channel, id)
	payload, _ := json.Marshal(a) // of texts and JSON that was read: can't fail
	e := core.Event{
		Platform: Name, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision, Conversation: core.ConversationID(Name + ":" + channel), Body: core.AmendEvent{Event: key},
		Address: core.Address{Platform: Name, Channel: channel}, Payload: payload,
	}
	if by != "" {
		e.Actor = actorOf(by)
	}
	return e
}

// messageID is the id of a message's event.
func messageID(channel, id string) string { return "message/" + channel + "/" + id }

// conversations gives the known conversations, those of the latest events first, as far as they were received. Only messages tell how
// far: a press overtakes them, and over HTTP it is received while the gateway is not.
func (d *Discord) conversations(ctx context.Context) ([]gateway.Conversation, error) {
	events, err := d.Recent(ctx)
	var all []gateway.Conversation
	index := map[string]int{}
	note := func(channel, guild, last, begins string) {
		if !snowflake.Valid(channel) {
			return
		}
		n, ok := index[channel]
		if !ok {
			n = len(all)
			index[channel], all = n, append(all, gateway.Conversation{Channel: channel, Guild: guild})
		}
		all[n].Last, all[n].Begins = snowflake.Max(all[n].Last, last), begins
	}
	for _, e := range events {
		guild := guildOf(e.Conversation)
		if e.Platform != Name || guild != direct && !snowflake.Valid(guild) {
			continue
		}
		channel, thread := e.Address.Channel, e.Address.Thread
		in, message := "", "" // where it was said, where it is a message
		if id, ok := strings.CutPrefix(e.ID, "message/"); ok {
			in, message, _ = strings.Cut(id, "/")
		}
		if in == channel {
			note(channel, guild, message, "")
		} else {
			note(channel, guild, "", "") // where the thread is: the bot may have been mentioned beside it
		}
		if snowflake.Valid(thread) {
			begins := message
			if begins == "" {
				begins = snowflake.At(e.AcceptedAt.Add(-gateway.CatchUpSlack))
			}
			d.guilds.SetChannels(guild, threadOf(thread, channel))
			note(thread, guild, message, begins)
		}
	}
	return all, err
}

// threadOf is a thread as an event's address tells of it.
func threadOf(id, parent string) discordgo.Channel {
	return discordgo.Channel{ID: id, ParentID: parent, Type: discordgo.ChannelTypeGuildPublicThread}
}
