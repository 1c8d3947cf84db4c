package discord

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// saying is what is read of a message, before it is stored and when it is parsed. Fields that are not named here may look like anything.
type saying struct {
	ID           string       `json:"id"`
	Channel      string       `json:"channel_id"`
	Guild        string       `json:"guild_id"`
	Type         int          `json:"type"`
	Content      string       `json:"content"`
	Author       *user        `json:"author"`
	Member       *member      `json:"member"`
	Webhook      string       `json:"webhook_id"`
	Mentions     []user       `json:"mentions"`
	MentionRoles []string     `json:"mention_roles"`
	Attachments  []attachment `json:"attachments"`
	Edited       string       `json:"edited_timestamp"`
	Answers      *struct {
		Author *user `json:"author"`
	} `json:"referenced_message"`

	renewed bool         // it was read again, for
	now     []attachment // the addresses that its files have now
}

// user is a person or a bot.
type user struct {
	ID       string  `json:"id"`
	Username string  `json:"username"`
	Global   string  `json:"global_name"`
	Bot      bool    `json:"bot"`
	System   bool    `json:"system"`
	Member   *member `json:"member"` // of a mention
}

// member is what somebody is called in a server.
type member struct {
	Nick string `json:"nick"`
}

// attachment is a file that was sent along.
type attachment struct {
	ID       string `json:"id"`
	Name     string `json:"filename"`
	Mimetype string `json:"content_type"`
	Size     int64  `json:"size"`
	URL      string `json:"url"`
}

// The types of messages that a person may have written; all others tell that something happened.
const (
	typePlain = 0
	typeReply = 19
)

// direct stands for the server in what is said directly.
const direct = "@me"

// eventsOf makes our events of what the gateway tells of messages. Error: provider_unavailable where Discord must be asked and can't be.
func (d *Discord) eventsOf(ctx context.Context, kind string, data []byte) ([]core.Event, error) {
	var m saying
	switch kind {
	case "MESSAGE_DELETE_BULK":
		var bulk struct {
			IDs     []string `json:"ids"`
			Channel string   `json:"channel_id"`
		}
		if err := json.Unmarshal(data, &bulk); err != nil {
			return nil, err
		}
		var events []core.Event
		for _, id := range bulk.IDs {
			events = append(events, deleted(bulk.Channel, id)...)
		}
		return events, nil
	case "MESSAGE_DELETE":
		if err := json.Unmarshal(data, &m); err != nil {
			return nil, err
		}
		return deleted(m.Channel, m.ID), nil
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if kind == "MESSAGE_UPDATE" && !d.justChanged(m) {
		return d.changed(m, data), nil
	}
	ev, ok, err := d.message(ctx, m, data)
	if err != nil {
		return nil, err
	}
	if !ok || kind == "MESSAGE_UPDATE" && ev.FollowUp {
		return d.changed(m, data), nil
	}
	return append([]core.Event{ev}, d.changed(m, data)...), nil // it is known as it stands, where it was changed before it was heard
}

// justNow is how long after a change a message counts as one that may have been addressed to the bot by it.
const justNow = 5 * time.Minute

// justChanged reports a message of a server that its author changed a moment ago: who forgot to mention the bot may have done it now.
func (d *Discord) justChanged(m saying) bool {
	at, err := time.Parse(time.RFC3339, m.Edited)
	return err == nil && m.Guild != "" && d.Now().Sub(at) < justNow
}

// byPerson reports a message that a person wrote. Whatever a bot said, ours or another, starts nothing: two bots could go on for
// ever. Nor does what a webhook or Discord itself said.
func (d *Discord) byPerson(m saying) bool {
	return m.Author != nil && isID(m.Author.ID) && !m.Author.Bot && !m.Author.System && m.Webhook == "" && m.Author.ID != d.whoami().User &&
		isID(m.ID) && isID(m.Channel) && (m.Guild == "" || isID(m.Guild)) && (m.Type == typePlain || m.Type == typeReply)
}

// message makes the event of a new message; ok is false for what is none of the bot's business.
func (d *Discord) message(ctx context.Context, m saying, body []byte) (ev core.Event, ok bool, err error) {
	if !d.byPerson(m) {
		return core.Event{}, false, nil
	}
	ev = core.Event{
		Platform: Name, ID: messageKey(m.Channel, m.ID), Body: core.MessageEvent{}, Actor: actor(m.Author.ID), Payload: body,
		Address: core.Address{Platform: Name, Channel: m.Channel, Message: m.ID},
	}
	guild := m.Guild
	if guild == "" {
		guild = direct
	}
	me := d.whoami().User
	mine, err := d.roleOf(ctx, m, me)
	if err != nil {
		return core.Event{}, false, err
	}
	rest, mentioned := addressed(m, me, mine)
	answers := m.Type == typeReply && m.Answers != nil && m.Answers.Author != nil && m.Answers.Author.ID == me
	var at spot
	if guild != direct {
		if !mentioned && !answers && m.Content == "" && len(m.Attachments) == 0 {
			return core.Event{}, false, nil // its content is withheld: it does not concern the bot
		}
		if at, err = d.atlas.place(ctx, m.Channel); err != nil {
			return core.Event{}, false, err
		}
	}
	switch {
	case guild == direct:
	case at.Thread:
		ev.Address.Channel, ev.Address.Thread = at.Parent, m.Channel
		ev.FollowUp = !mentioned && !answers
		if m.ID == m.Channel { // it begins a forum's post: there is no thread to be opened
			ev.Address.Message = ""
		}
	case answers, mentioned && (d.Config.Reply == replyChannel || at.Voice): // what the bot said in a channel itself belongs to its conversation there
	case mentioned:
		ev.Address.Thread = m.ID // the thread that the answer opens
	default:
		return core.Event{}, false, nil
	}
	ev.Conversation = conversationOf(guild, ev.Address)
	if control := controlOf(rest); control != nil {
		ev.Body = control
	}
	return ev, true, nil
}

// roleOf gives the bot's own role in the server of a message that mentions roles, "" where there is none.
func (d *Discord) roleOf(ctx context.Context, m saying, bot string) (string, error) {
	if m.Guild == "" || len(m.MentionRoles) == 0 {
		return "", nil
	}
	r, err := d.atlas.rolesOf(ctx, m.Guild)
	return r.bots[bot], err
}

// addressed takes the bot's name off the beginning of a message as Discord sends it, as often as it stands there, with a comma or
// colon behind it. mentioned: the bot, or the role that is its own, is named somewhere, or somebody who answers it has it called.
func addressed(m saying, me, role string) (rest string, mentioned bool) {
	names := []string{"<@" + me + ">", "<@!" + me + ">"}
	if role != "" {
		names = append(names, "<@&"+role+">")
		mentioned = slices.Contains(m.MentionRoles, role)
	}
	mentioned = mentioned || slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == me && me != "" })
	rest = strings.TrimSpace(m.Content)
	for again := me != ""; again; {
		again = false
		for _, name := range names {
			mentioned = mentioned || strings.Contains(m.Content, name)
			if after, ok := strings.CutPrefix(rest, name); ok {
				rest, again = strings.TrimSpace(strings.TrimLeft(after, ",:")), true
			}
		}
	}
	return rest, mentioned
}

// changed makes an amendment of a message whose author changed it. What Discord adds (embeds, a thread) leaves the time of the
// author's last change as it was, so it is known or, where there was none, no amendment. Nor is one whose content is withheld.
func (d *Discord) changed(m saying, body []byte) []core.Event {
	withheld := m.Guild != "" && m.Content == "" && len(m.Attachments) == 0 && !d.reads()
	if !d.byPerson(m) || m.Edited == "" || withheld {
		return nil
	}
	rest, _ := addressed(m, d.whoami().User, "")
	return []core.Event{amendment(m.Channel, m.ID, m.Author.ID, core.Amendment{
		Revision: m.Edited, Payload: body, Text: strings.TrimSpace(readable(rest, d.namesIn(m))),
	})}
}

// revisionDeleted is the revision of a deletion: greater than every time of a change.
const revisionDeleted = "deleted"

// deleted makes the amendment of a message that is there no more. Discord does not say who took it away.
func deleted(channel, id string) []core.Event {
	if !isID(channel) || !isID(id) {
		return nil
	}
	return []core.Event{amendment(channel, id, "", core.Amendment{Revision: revisionDeleted})}
}

func amendment(channel, id, by string, a core.Amendment) core.Event {
	payload, _ := json.Marshal(a) // of texts and JSON that was read: can't fail
	key := messageKey(channel, id)
	ev := core.Event{
		Platform: Name, ID: strings.Replace(key, "message/", "amend/", 1) + "/" + a.Revision, Conversation: core.ConversationID(Name + ":" + channel), Body: core.AmendEvent{Event: key},
		Address: core.Address{Platform: Name, Channel: channel}, Payload: payload,
	}
	if by != "" {
		ev.Actor = actor(by)
	}
	return ev
}

func messageKey(channel, id string) string { return "message/" + channel + "/" + id }

// laneOf is the conversation of a place: a thread, a channel, or what is said directly.
func conversationOf(guild string, at core.Address) core.ConversationID {
	where := at.Channel
	if at.Thread != "" {
		where = at.Thread
	}
	return core.ConversationID(Name + ":" + guild + ":" + where)
}

// guildOf is the server of a conversation, or direct.
func guildOf(l core.ConversationID) string {
	rest, _ := strings.CutPrefix(string(l), Name+":")
	guild, _, _ := strings.Cut(rest, ":")
	return guild
}

func actor(user string) core.Actor { return core.Actor{ID: Name + ":" + user} }

// controlOf is what a message asks for that is a control word behind an exclamation mark: slash commands do not exist in threads.
func controlOf(text string) core.EventBody {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !ok {
		return nil
	}
	return core.ParseControl(word)
}
