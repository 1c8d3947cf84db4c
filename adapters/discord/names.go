package discord

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// names are what people and channels are called that messages mention, for quoting the messages.
type names struct {
	of      func(kind byte, id string) string // of a person ('@'), a channel ('#') or a role ('&'); "": it is not known
	asked   bool                              // Discord was asked for some of them
	nothing string                            // what is quoted of a message in which there is nothing
}

// Limits of what Discord is asked for one message: a session begins with the names of all channels that the bot sees.
// Those that are not known after that stay ids.
const (
	maxAsked    = 15 // channels
	namesWithin = 2 * time.Second
)

// namesIn returns the names that messages of a server ("": direct messages) mention. Discord is asked for channels that
// are not known.
func (d *Discord) namesIn(ctx context.Context, guild string, all ...quotable) *names {
	n := d.knownNames(guild, all...)
	known := n.of
	found, asked := d.channelNames(ctx, guild, known, all)
	n.asked = asked
	n.of = func(kind byte, id string) string { return cmp.Or(found[string(kind)+id], known(kind, id)) }
	return n
}

// knownNames returns the names that messages mention: those that the messages have, people's and some channels', and
// those of other channels and of roles, if known.
func (d *Discord) knownNames(guild string, all ...quotable) *names {
	found := map[string]string{} // by kind and id
	person := func(u *user, m *member) {
		if u != nil && found["@"+u.ID] == "" {
			found["@"+u.ID] = nameOf(u, m)
		}
	}
	for _, s := range all {
		mentions := s.Mentions
		for _, f := range s.forwarded() {
			mentions = append(slices.Clip(mentions), f.Mentions...)
		}
		for _, u := range mentions {
			person(&u, u.Member)
		}
		person(s.Author, s.Member)
		for _, c := range s.MentionChannels.it {
			found["#"+c.ID] = c.Name
		}
	}
	nothing := "[nothing in it can be read]"
	if guild != "" && !d.readsContent() {
		nothing = "[Discord withholds what it says: the bot lacks the Message Content Intent]"
	}
	return &names{nothing: nothing, of: chat.FewNames(func(kind byte, id string) string {
		name := found[string(kind)+id]
		switch {
		case name != "":
		case kind == '#':
			name = d.guilds.ChannelName(guild, id)
		case kind == origin:
			name = d.guilds.ChannelName("", id)
		case kind == '&':
			name = d.guilds.RoleName(guild, id)
		}
		return name
	})}
}

// origin is the kind of the channel that a forwarded message comes from. It may be one of another server, which the
// person who forwards it sees.
const origin = '>'

// channelNames returns the names of the channels that messages mention and that are not known, by kind and id. Discord
// is asked for all of them at once.
func (d *Discord) channelNames(
	ctx context.Context, guild string, known func(kind byte, id string) string, all []quotable,
) (found map[string]string, asked bool) {
	var unknown []string
	collect := &names{of: func(kind byte, id string) string {
		key := string(kind) + id
		isChannel := (kind == '#' || kind == origin) && snowflake.Valid(id)
		if isChannel && len(unknown) < maxAsked && !slices.Contains(unknown, key) && known(kind, id) == "" {
			unknown = append(unknown, key)
		}
		return ""
	}}
	for _, s := range all {
		collect.quotation("", s)
	}
	if len(unknown) == 0 {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(rest.ForPosts(ctx), namesWithin)
	defer cancel()
	var calls atomic.Bool
	found = chat.LookUp(unknown, func(key string) string {
		kind, id, in := key[0], key[1:], guild
		if kind == origin {
			in = ""
		}
		name, seen, called := d.guilds.FindChannelName(ctx, in, id)
		if called {
			calls.Store(true)
		}
		if !seen && kind == '#' {
			return id + unseen
		}
		return name
	})
	return found, calls.Load()
}

// unseen stands behind the id of a channel.
const unseen = " (a channel that the bot can't see)"

// speaker is who wrote a message; zero if Discord does not say.
func (n *names) speaker(u *user) core.Speaker {
	if u == nil || !snowflake.Valid(u.ID) {
		return core.Speaker{}
	}
	return core.Speaker{Name: chat.Name(cmp.Or(n.of('@', u.ID), nameOf(u, nil))), ID: address.Actor(u.ID).ID}
}

// readableIn converts a text of a message, and asks for nothing.
func (d *Discord) readableIn(m message, text string) string {
	return d.knownNames(m.Guild, m.quotable).read(text)
}

// read converts a text that messages have to plain text for the agent.
func (n *names) read(text string) string { return strings.TrimSpace(readable(text, n.of)) }

// readable converts a person's text to plain text for the agent: Discord's tokens become what the person saw, which in
// code are the tokens themselves. names returns the name of a person ('@'), a channel ('#') or a role ('&'), "" if
// unknown.
func readable(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	return outsideCode(text, func(s string) string {
		return anyToken.ReplaceAllStringFunc(s, func(token string) string {
			if shown, ok := readToken(token[1:len(token)-1], names); ok {
				return shown
			}
			return token
		})
	})
}

var (
	anyToken     = regexp.MustCompile(`<[^<>\n]*>`)
	mentionToken = regexp.MustCompile(`^(@[!&]?|#)(\d{1,20})$`) // its kind and its id
	// their text and id, without the brackets
	emojiOrCommand = regexp.MustCompile(`^(?:a?(:[^:]+:)|(/[^:]*):)\d{1,20}$`)
)

// readToken converts the inside of <…> to what people see; ok is false if it is not one of Discord's tokens.
func readToken(inside string, names func(kind byte, id string) string) (shown string, ok bool) {
	if seconds, is := strings.CutPrefix(inside, "t:"); is {
		return readTime(seconds)
	}
	if m := mentionToken.FindStringSubmatch(inside); m != nil {
		kind := m[1][0]
		if m[1] == "@&" {
			kind = '&'
		}
		return m[1][:1] + cmp.Or(strings.TrimLeft(chat.Name(names(kind, m[2])), "@#"), m[2]), true
	}
	if m := emojiOrCommand.FindStringSubmatch(inside); m != nil {
		return m[1] + m[2], true
	}
	return "", false
}

// readTime converts the SECONDS:STYLE of a time token to a time in UTC.
func readTime(inside string) (string, bool) {
	seconds, _, _ := strings.Cut(inside, ":")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return "", false
	}
	return time.Unix(n, 0).UTC().Format("2006-01-02 15:04:05 UTC"), true
}

// nameOf returns a user's name as shown where they wrote: in a server their nickname.
func nameOf(u *user, m *member) string {
	nick := ""
	if m != nil {
		nick = m.Nick
	}
	return cmp.Or(strings.TrimSpace(nick), strings.TrimSpace(u.Global), strings.TrimSpace(u.Username), u.ID)
}

// actor returns the core.Actor of a person, with the name that others see where m is their membership; nil for a direct
// message.
func (u *user) actor(m *member) core.Actor {
	who := address.Actor(u.ID)
	if name := nameOf(u, m); name != u.ID {
		who.Name = chat.Name(name)
	}
	return who
}
