package discordtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// Flags of messages.
const (
	FlagSuppressEmbeds        = 1 << 2
	FlagHasThread             = 1 << 5
	FlagEphemeral             = 1 << 6
	FlagLoading               = 1 << 7
	FlagSuppressNotifications = 1 << 12
	FlagComponentsV2          = 1 << 15
)

// Types of messages.
const (
	TypeDefault       = 0
	TypeThreadCreated = 18
	TypeReply         = 19
	TypeCommand       = 20
	TypeThreadStarter = 21
)

// Message is a message as it stands.
type Message struct {
	ID          string
	Channel     string
	Guild       string
	Author      string
	Content     string
	At          time.Time
	EditedAt    time.Time // of an edit of what is said; a preview does not count
	Edits       int
	Type        int
	Flags       int
	ReplyTo     string // the message that it replies to
	Attachments []Attachment
	Embeds      []object
	Components  []object
	Reactions   []Reaction
	Nonce       string
	Enforced    bool            // the nonce
	Allowed     json.RawMessage // allowed_mentions as sent, null if they were not
	Mentions    []string        // the users that it pings
	Roles       []string        // the roles that it pings
	Everyone    bool            // it pings everyone
	Ephemeral   string          // the only user who sees it
	Thread      string          // the thread that was made from it
	Interaction string          // the interaction that it answers
}

// Reaction is an emoji under a message.
type Reaction struct {
	Emoji string
	Users []string
}

// Attachment is a file on a message.
type Attachment struct {
	ID          string
	Name        string
	ContentType string
	Data        []byte
	Size        int    // len(Data) if 0
	URL         string // where it lies; the fake's own place if empty
	Width       int
	Height      int
	Description string
}

// record is a message and who may read it yet.
type record struct {
	Message
	fakeserver.Visibility
}

// add puts a message into a channel. The caller holds the lock.
func (s *Server) add(c *channel, m Message) *record {
	if m.ID == "" {
		m.ID = s.newID()
	}
	m.Channel, m.Guild = c.ID, c.Guild
	if m.At.IsZero() {
		m.At = s.o.Now()
	}
	r := &record{Message: m}
	if m.Ephemeral != "" {
		c.ephemerals = append(c.ephemerals, r)
	} else {
		c.messages = append(c.messages, r)
		c.byID[m.ID] = r
	}
	if m.Author == s.o.BotUserID {
		s.fromBot++
		if m.Ephemeral == "" {
			fakeserver.Hide(&s.Reads, &r.Visibility)
		}
	}
	if c.Archived && !c.Locked && m.Ephemeral == "" {
		c.Archived = false
		s.emitThread("THREAD_UPDATE", c, nil)
	}
	s.changed()
	return r
}

// remove takes a message away and tells of it.
func (s *Server) remove(c *channel, r *record) {
	same := func(other *record) bool { return other == r }
	if r.Ephemeral != "" {
		c.ephemerals = slices.DeleteFunc(c.ephemerals, same)
	} else {
		c.messages = slices.DeleteFunc(c.messages, same)
		delete(c.byID, r.ID)
		data := object{"id": r.ID, "channel_id": c.ID}
		if c.Guild != "" {
			data["guild_id"] = c.Guild
		}
		s.emit(event{name: "MESSAGE_DELETE", guild: c.Guild, channel: c, intent: intentFor(c, IntentGuildMessages, IntentDirectMessages), full: data})
	}
	s.changed()
}

// react sets an emoji for a user; it says whether that is new.
func (r *record) react(emoji, user string) bool {
	for i := range r.Reactions {
		if r.Reactions[i].Emoji == emoji {
			if slices.Contains(r.Reactions[i].Users, user) {
				return false
			}
			r.Reactions[i].Users = append(slices.Clone(r.Reactions[i].Users), user)
			return true
		}
	}
	r.Reactions = append(slices.Clone(r.Reactions), Reaction{Emoji: emoji, Users: []string{user}})
	return true
}

// unreact takes an emoji of a user away; it says whether it was there.
func (r *record) unreact(emoji, user string) bool {
	reactions := slices.Clone(r.Reactions)
	for i := range reactions {
		if reactions[i].Emoji != emoji || !slices.Contains(reactions[i].Users, user) {
			continue
		}
		reactions[i].Users = slices.DeleteFunc(slices.Clone(reactions[i].Users), func(other string) bool { return other == user })
		if len(reactions[i].Users) == 0 {
			reactions = slices.Delete(reactions, i, i+1)
		}
		r.Reactions = reactions
		return true
	}
	return false
}

// Shown is what a reader sees of the message: the content, embeds, files and buttons, as lines of text.
func (m Message) Shown() string {
	var lines []string
	if m.Content != "" {
		lines = append(lines, m.Content)
	}
	if m.Flags&FlagLoading != 0 {
		lines = append(lines, "(thinking)")
	}
	if m.Flags&FlagSuppressEmbeds == 0 {
		for _, e := range m.Embeds {
			lines = append(lines, shownEmbed(e)...)
		}
	}
	for _, a := range m.Attachments {
		lines = append(lines, "{"+a.Name+"}")
	}
	for _, c := range m.Components {
		lines = append(lines, shownComponent(c)...)
	}
	return strings.Join(lines, "\n")
}

func shownEmbed(e object) []string {
	var lines []string
	for _, key := range []string{"title", "description"} {
		if text := word(e, key); text != "" {
			lines = append(lines, "| "+strings.ReplaceAll(text, "\n", "\n| "))
		}
	}
	for _, f := range list(e, "fields") {
		lines = append(lines, fmt.Sprintf("| %s: %s", word(f, "name"), strings.ReplaceAll(word(f, "value"), "\n", "\n| ")))
	}
	if footer, ok := e["footer"].(object); ok {
		lines = append(lines, "| "+word(footer, "text"))
	}
	return lines
}

func shownComponent(c object) []string {
	switch integer(c, "type") {
	case componentButton:
		label := word(c, "label")
		if emoji, ok := c["emoji"].(object); ok {
			label = strings.TrimSpace(word(emoji, "name") + " " + label)
		}
		if truth(c, "disabled") {
			label += " (off)"
		}
		return []string{"[" + label + "]"}
	case componentText:
		return []string{word(c, "content")}
	case componentRow:
		var cells []string
		for _, inner := range list(c, "components") {
			cells = append(cells, shownComponent(inner)...)
		}
		return []string{strings.Join(cells, " ")}
	}
	var lines []string
	for _, inner := range list(c, "components") {
		lines = append(lines, shownComponent(inner)...)
	}
	return lines
}
