package discord

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// readable is what a person wrote, as plain text for the agent: Discord's tokens become what the person saw. names gives what a
// person ('@'), a channel ('#') or a role ('&') is called, "" where it does not know.
func readable(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			break
		}
		end := strings.IndexAny(text[start+1:], "<>\n")
		shown, ok := "", false
		if end >= 0 && text[start+1+end] == '>' {
			shown, ok = token(text[start+1:start+1+end], names)
		}
		if !ok {
			b.WriteString(text[:start+1])
			text = text[start+1:]
			continue
		}
		b.WriteString(text[:start])
		b.WriteString(shown)
		text = text[start+end+2:]
	}
	b.WriteString(text)
	return b.String()
}

// token is the inside of <…> as people see it; ok is false for what is none of Discord's tokens.
func token(inside string, names func(kind byte, id string) string) (shown string, ok bool) {
	called := func(sign string, kind byte, id string) (string, bool) {
		if !isID(id) {
			return "", false
		}
		if name := strings.TrimLeft(nameLine(names(kind, id)), "@#"); name != "" {
			return sign + name, true
		}
		return sign + id, true
	}
	switch {
	case strings.HasPrefix(inside, "@&"):
		return called("@", '&', inside[2:])
	case strings.HasPrefix(inside, "@!"):
		return called("@", '@', inside[2:])
	case strings.HasPrefix(inside, "@"):
		return called("@", '@', inside[1:])
	case strings.HasPrefix(inside, "#"):
		return called("#", '#', inside[1:])
	case strings.HasPrefix(inside, "t:"):
		return timeOf(inside[2:])
	}
	kind, rest, found := strings.Cut(inside, ":")
	name, id, whole := strings.Cut(rest, ":")
	switch {
	case !found || !whole || !isID(id) || name == "":
	case kind == "" || kind == "a": // an emoji of a server
		return ":" + name + ":", true
	}
	if command, id, ok := strings.Cut(inside, ":"); ok && strings.HasPrefix(command, "/") && isID(id) {
		return command, true
	}
	return "", false
}

// timeOf is a time as t:SECONDS:STYLE gives it.
func timeOf(inside string) (string, bool) {
	seconds, _, _ := strings.Cut(inside, ":")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || n > 1<<40 {
		return "", false
	}
	return time.Unix(n, 0).UTC().Format("2006-01-02 15:04:05 UTC"), true
}

// namesIn gives the names of those whom a message mentions, as it came with them.
func (d *Discord) namesIn(m saying) func(kind byte, id string) string {
	return func(kind byte, id string) string {
		if kind != '@' {
			return d.atlas.name(m.Guild, kind, id)
		}
		for _, u := range m.Mentions {
			if u.ID == id {
				return calledBy(&u, u.Member)
			}
		}
		return ""
	}
}

// namesFor are those of namesIn and, where the session told nothing of a server, the names of its roles that Discord is asked for.
func (d *Discord) namesFor(ctx context.Context, m saying) func(kind byte, id string) string {
	if m.Guild != "" && len(m.MentionRoles) > 0 {
		_, _ = d.atlas.rolesOf(ctx, m.Guild) // without them the ids stand there
	}
	return d.namesIn(m)
}

// calledBy is what somebody is called where they spoke.
func calledBy(u *user, m *member) string {
	if m != nil && strings.TrimSpace(m.Nick) != "" {
		return m.Nick
	}
	for _, name := range []string{u.Global, u.Username} {
		if strings.TrimSpace(name) != "" {
			return name
		}
	}
	return u.ID
}

// maxName is how much of a name is shown.
const maxName = 80

// nameLine makes a name that can't pass for anything but a name.
func nameLine(name string) string {
	name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "\ufffd")), " ")
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName])
	}
	return name
}
