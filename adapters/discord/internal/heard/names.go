package heard

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
	"gatehouse/adapters/discord/internal/guilds"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Names are what people and channels are called that messages mention, for quoting the messages.
type Names struct {
	guilds   *guilds.Cache // nil: only found counts
	guild    string
	nothing  string            // what is quoted of a message in which there is nothing
	found    map[string]string // by kind and id: the names that the messages have
	answered map[string]string // those that Discord was asked for
	read     map[string]string // those that were looked up so far
	unknown  []string          // the keys of channels that Discord is asked for
	collects bool              // unknown is collected
	Asked    bool              // Discord was asked
}

// Limits of what Discord is asked for one message: a session begins with the names of all channels that the bot sees.
// Those that are not known after that stay ids.
const (
	maxAsked    = 15 // channels
	namesWithin = 2 * time.Second
)

// KnownNames returns the names that messages of a server ("": direct messages) mention: those that the messages have,
// people's and some channels', and those of other channels and of roles, as far as they are known. withheld: Discord
// withholds what messages say that don't mention the bot.
func KnownNames(known *guilds.Cache, guild string, withheld bool, all ...Quotable) *Names {
	n := &Names{guilds: known, guild: guild, nothing: "[nothing in it can be read]", found: map[string]string{}}
	if guild != "" && withheld {
		n.nothing = "[Discord withholds what it says: the bot lacks the Message Content Intent]"
	}
	person := func(u *User, m *Member) {
		if u != nil && n.found["@"+u.ID] == "" {
			n.found["@"+u.ID] = nameOf(u, m)
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
		for _, c := range s.MentionChannels.It {
			n.found["#"+c.ID] = c.Name
		}
	}
	return n
}

// origin is the kind of the channel that a forwarded message comes from. It may be one of another server, which the
// person who forwards it sees.
const origin = '>'

// of returns the name of a person ('@'), a channel ('#', origin) or a role ('&'), "" if it is not known. Of more than
// inbound.MaxNames none is known.
func (n *Names) of(kind byte, id string) string {
	key := string(kind) + id
	isChannel := (kind == '#' || kind == origin) && snowflake.Valid(id)
	if n.collects && (!isChannel || len(n.unknown) == maxAsked) {
		return ""
	}
	name, read := n.read[key]
	if !read && len(n.read) < inbound.MaxNames {
		name = cmp.Or(n.found[key], n.cached(kind, id))
		if n.read == nil {
			n.read = map[string]string{}
		}
		n.read[key] = name
	}
	if n.collects && name == "" && !slices.Contains(n.unknown, key) {
		n.unknown = append(n.unknown, key)
	}
	return cmp.Or(n.answered[key], name)
}

func (n *Names) cached(kind byte, id string) string {
	switch {
	case n.guilds == nil:
		return ""
	case kind == '#':
		return n.guilds.ChannelName(n.guild, id)
	case kind == origin:
		return n.guilds.ChannelName("", id)
	case kind == '&':
		return n.guilds.RoleName(n.guild, id)
	}
	return ""
}

// unseen stands behind the id of a channel.
const unseen = " (a channel that the bot can't see)"

// Ask asks Discord, at once, for the channels that messages mention and whose names are not known.
func (n *Names) Ask(ctx context.Context, all ...Quotable) {
	n.collects = true
	for _, s := range all {
		n.Quotation("", s)
	}
	n.collects = false
	if len(n.unknown) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(rest.ForPosts(ctx), namesWithin)
	defer cancel()
	var calls atomic.Bool
	n.answered = inbound.LookUp(n.unknown, func(key string) string {
		kind, id, in := key[0], key[1:], n.guild
		if kind == origin {
			in = ""
		}
		name, seen, called := n.guilds.FindChannelName(ctx, in, id)
		if called {
			calls.Store(true)
		}
		if !seen && kind == '#' {
			return id + unseen
		}
		return name
	})
	n.Asked = calls.Load()
}

// speaker is who wrote a message; zero if Discord does not say.
func (n *Names) speaker(u *User) core.Speaker {
	if u == nil || !snowflake.Valid(u.ID) {
		return core.Speaker{}
	}
	return core.Speaker{Name: safetext.Name(cmp.Or(n.of('@', u.ID), nameOf(u, nil))), ID: address.Actor(u.ID).ID}
}

// Text converts a text that messages have to plain text for the agent.
func (n *Names) Text(text string) string { return strings.TrimSpace(readable(text, n.of)) }

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
		return m[1][:1] + cmp.Or(strings.TrimLeft(safetext.Name(names(kind, m[2])), "@#"), m[2]), true
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
