package discord

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// receiver is the platform while it runs, as the gateway sees it. What it accepts is committed by accept.
type receiver struct {
	*Discord
	accept core.Accept
}

var _ gateway.Receiver = receiver{}

// Take processes a gateway event up to its commit.
func (d receiver) Take(ctx context.Context, event string, data []byte) inbound.Result {
	switch event {
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return d.takeMessage(ctx, event, data, d.accept)
	case "INTERACTION_CREATE":
		i, answer, result := d.takeInteraction(ctx, data, d.accept)
		if result == inbound.Stored {
			d.respond(i, answer)
		}
		return result
	}
	if err := d.guilds.Update(event, data); err != nil {
		d.Log.Warn("an event about a server can't be read and is ignored", "event", event, "bytes", len(data),
			"err", inbound.JSONFault(err))
	}
	return inbound.Stored
}

// takeMessage processes a message, an edit or a deletion up to its commit.
func (d *Discord) takeMessage(ctx context.Context, event string, data []byte, accept core.Accept) inbound.Result {
	events, err := d.eventsOf(ctx, event, data)
	switch {
	case core.CategoryOf(err) == core.ProviderUnavailable:
		d.Log.Warn("a message waits until Discord says which channel it belongs to", "err", err)
		return inbound.NotStored
	case err != nil:
		d.Log.Warn("an event can't be read and is ignored", "event", event, "bytes", len(data),
			"err", inbound.JSONFault(err))
		return inbound.Malformed
	}
	for _, e := range events {
		if r := inbound.Commit(ctx, d.Log, e, accept, storeAgain); r != inbound.Stored {
			return r
		}
	}
	return inbound.Stored
}

// eventsOf converts a gateway event about messages to our events. Error: provider_unavailable if a necessary call to
// Discord fails.
func (d *Discord) eventsOf(ctx context.Context, event string, data []byte) ([]core.Event, error) {
	var m heard.Message
	if err := inbound.Decode(data, &m); err != nil {
		return nil, err
	}
	if event == "MESSAGE_DELETE" || event == "MESSAGE_DELETE_BULK" {
		return deletions(m), nil
	}
	d.learnRoot(m)
	edits := d.edit(m, data)
	isUpdate := event == "MESSAGE_UPDATE"
	if isUpdate && !d.justEdited(m) {
		return edits, nil
	}
	e, ok, err := d.messageEvent(ctx, m, data)
	if err != nil || !ok || isUpdate && e.FollowUp {
		return edits, err
	}
	return append([]core.Event{e}, edits...), nil // one that was edited before it arrived has its amendment too
}

// justNow is how long after an edit a message may still count as newly addressed to the bot.
const justNow = 5 * time.Minute

// justEdited reports whether a server message was edited by its author a moment ago, perhaps to add a forgotten mention
// of the bot.
func (d *Discord) justEdited(m heard.Message) bool {
	at, err := time.Parse(time.RFC3339, m.Edited)
	now, _, _ := d.Clock()
	return err == nil && m.Guild != "" && now.Sub(at) < justNow
}

// hears reports whether a person wrote a message, or a bot that may ask. Messages of other bots and webhooks, of this
// bot and of Discord itself start nothing.
func (d *Discord) hears(m heard.Message) bool {
	if m.Author == nil || m.Author.System || m.Author.ID == d.whoami().User ||
		(m.Author.Bot || m.Webhook != "") && !d.isBot(address.Actor(m.Author.ID)) {
		return false
	}
	return snowflake.Valid(m.Author.ID, m.ID, m.Channel) && (m.Guild == "" || snowflake.Valid(m.Guild)) &&
		heard.IsSaid(m.Type)
}

// messageEvent makes the event of a new message; ok is false if the message does not concern the bot.
func (d *Discord) messageEvent(ctx context.Context, m heard.Message, body []byte) (e core.Event, ok bool, err error) {
	if !d.hears(m) {
		d.overhear(m)
		return e, false, nil
	}
	e = core.Event{
		Platform: address.Platform, ID: messageID(m.Channel, m.ID), Body: core.MessageEvent{},
		Actor:   m.Author.Actor(m.Member),
		Payload: body,
		Address: core.Address{Platform: address.Platform, Channel: m.Channel, Message: m.ID},
	}
	me := d.whoami().User
	role, err := d.roleOf(ctx, m, me)
	if err != nil {
		return e, false, err
	}
	rest, mentioned := heard.Addressed(m, me, role)
	if m.Guild != "" {
		if ok, err = d.locate(ctx, m, mentioned, &e); err != nil || !ok {
			return e, false, err
		}
	}
	e.Conversation = address.Conversation(m.Guild, e.Address)
	if e.FollowUp {
		if old, err := d.cameBefore(ctx, e, m); old || err != nil {
			return e, false, err
		}
	}
	if control := inbound.Control(rest); control != nil && !d.isBot(e.Actor) {
		e.Body = control
	}
	return e, true, nil
}

// cameBefore reports whether a message in a thread is older than all that is stored of its conversation, so that the
// bot was not asked there yet: Discord repeats it when a session is resumed after a kill. Error: provider_unavailable.
func (d *Discord) cameBefore(ctx context.Context, e core.Event, m heard.Message) (bool, error) {
	if id, fresh := d.known.Get(m.Channel); fresh && !snowflake.Greater(id, m.ID) {
		return false, nil
	}
	older := func(r core.EventRecord) bool { return !snowflake.Greater(heardUpTo(r), m.ID) }
	f := core.EventFilter{
		Platform: address.Platform, Conversation: e.Conversation, Kinds: []core.Kind{core.KindMessage},
	}
	for _, f.Limit = range []int{1, 50} { // mostly one tells
		stored, err := d.Inbox.Events(ctx, f)
		if err != nil {
			return false, core.Wrap(core.ProviderUnavailable, err, "It can't be told now whether it is for the bot.")
		}
		n := slices.IndexFunc(stored, older)
		if n >= 0 && heardUpTo(stored[n]) != "" {
			d.known.Put(m.Channel, heardUpTo(stored[n]), knownFor)
		}
		if len(stored) == 0 || n >= 0 {
			return false, nil
		}
	}
	return true, nil
}

// locate sets the address where a server message is answered, and whether it is a follow-up; ok is false if the message
// does not concern the bot.
func (d *Discord) locate(ctx context.Context, m heard.Message, mentioned bool, e *core.Event) (ok bool, err error) {
	answersBot := m.AnswersBot(d.whoami().User)
	if !mentioned && !answersBot && m.IsEmpty() {
		return false, nil // Discord withheld its content, so it does not concern the bot
	}
	at, err := d.channelOf(ctx, m)
	if err != nil {
		return false, err
	}
	switch {
	case at.IsThread():
		e.Address.Channel, e.Address.Thread = at.ParentID, m.Channel
		if m.ID == m.Channel { // it begins a forum post, so there is no thread to open
			e.Address.Message = ""
		}
		if mentioned || answersBot {
			return true, nil
		}
		if d.Config.FollowUp == followMention {
			return false, nil
		}
		own, err := d.beganWithOwn(ctx, at, address.Conversation(m.Guild, e.Address))
		e.FollowUp = !own
		return true, err
	case answersBot, mentioned && (!d.Config.threads() || guilds.IsVoice(at.Type)):
		// the bot's messages in the channel itself belong to the channel's conversation
	case mentioned:
		e.Address.Thread = m.ID // the thread that the answer opens
	default:
		return false, nil
	}
	return true, nil
}

// channelOf returns the channel of a server message. Discord is asked only if it may be a thread that is not known: no
// other channel has anything that its message does not say.
func (d *Discord) channelOf(ctx context.Context, m heard.Message) (discordgo.Channel, error) {
	if m.In != nil && !isThread(*m.In) {
		return discordgo.Channel{ID: m.Channel, Type: *m.In}, nil
	}
	return d.guilds.Channel(ctx, m.Channel)
}

func isThread(t discordgo.ChannelType) bool { return (&discordgo.Channel{Type: t}).IsThread() }

// Known reports whether a message can be placed without a call to Discord.
func (d receiver) Known(at gateway.Location) bool {
	place := at.In != nil && !isThread(*at.In)
	if one, cached := d.guilds.Cached(at.Channel); cached && !place {
		_, place = d.root(one)
	}
	return place && (len(at.Roles) == 0 || d.guilds.KnowsRoles(at.Guild))
}

// edit makes the amendment of a message that its author edited. Changes by Discord itself (embeds, a thread) keep the
// time of the author's last edit: the amendment is then already known, or without that time there is none. Nor is there
// one for withheld content.
func (d *Discord) edit(m heard.Message, body []byte) []core.Event {
	withheld := m.Guild != "" && m.IsEmpty() && !d.readsContent()
	if !d.hears(m) || m.Edited == "" || withheld {
		return nil
	}
	rest, _ := heard.Addressed(m, d.whoami().User, "")
	e := amendment(m.Channel, m.ID, core.Amendment{
		Revision: m.Edited, Payload: body, Text: d.readableIn(m, rest),
	})
	e.Actor = address.Actor(m.Author.ID)
	return []core.Event{e}
}

func amendment(channel, id string, a core.Amendment) core.Event {
	key := messageID(channel, id)
	payload, _ := json.Marshal(a) // can't fail: it has only texts and JSON that was read
	return core.Event{
		Platform: address.Platform, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision,
		Conversation: core.ConversationID(address.Platform + ":" + channel), Body: core.AmendEvent{Event: key},
		Address: core.Address{Platform: address.Platform, Channel: channel}, Payload: payload,
	}
}

// messageID returns the id of a message's event.
func messageID(channel, id string) string { return "message/" + channel + "/" + id }

// Parent returns the channel of a thread.
func (d receiver) Parent(channel string) string { return d.guilds.Parent(channel) }

// Conversations returns the known conversations, most recent first, and the last message received in each. Only
// messages count for that: a press overtakes them, and over HTTP it may arrive while the gateway is down.
func (d receiver) Conversations(ctx context.Context) ([]gateway.Conversation, error) {
	events, err := d.Inbox.Events(ctx, latest)
	var all []gateway.Conversation
	note := func(channel, guild, last, begins string) {
		if !snowflake.Valid(channel) {
			return
		}
		n := slices.IndexFunc(all, func(c gateway.Conversation) bool { return c.Channel == channel })
		if n < 0 {
			n, all = len(all), append(all, gateway.Conversation{Channel: channel, Guild: guild})
		}
		all[n].Last, all[n].Begins = snowflake.Max(all[n].Last, last), begins
	}
	for _, e := range events {
		guild := address.Guild(e.Conversation)
		if guild != address.Direct && !snowflake.Valid(guild) {
			continue
		}
		channel, thread := e.Address.Channel, e.Address.Thread
		in, message := "", "" // the channel and id of a message
		if id, ok := strings.CutPrefix(e.ID, "message/"); ok {
			in, message, _ = strings.Cut(id, "/")
		}
		here := "" // in a thread's channel the bot may have been mentioned too
		if in == channel {
			here = message
		}
		note(channel, guild, here, "")
		if snowflake.Valid(thread) {
			begins := message
			if begins == "" {
				begins = snowflake.At(e.AcceptedAt.Add(-gateway.CatchUpSlack))
			}
			d.guilds.SetChannels(
				discordgo.Channel{ID: thread, ParentID: channel, Type: discordgo.ChannelTypeGuildPublicThread})
			note(thread, guild, message, begins)
		}
	}
	return all, err
}

// revisionDeleted is the revision of a deletion. It sorts after the time of every edit.
const revisionDeleted = "deleted"

// deletions makes the amendments of deleted messages. Discord does not say who deleted them.
func deletions(m heard.Message) (events []core.Event) {
	for _, id := range append(m.IDs, m.ID) {
		if snowflake.Valid(m.Channel, id) {
			events = append(events, amendment(m.Channel, id, core.Amendment{Revision: revisionDeleted}))
		}
	}
	return events
}
