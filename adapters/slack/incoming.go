package slack

import "strings"

// readable is what a person wrote, as plain text for the agent: Slack's tokens become what the person saw, and its three entities
// are decoded, once. names gives what a person ('@'), a channel ('#') or a user group ('!') is called, "" where it does not know.
func readable(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			break
		}
		end := strings.IndexAny(text[start+1:], "<>\n")
		if end < 0 || text[start+1+end] != '>' { // no token: Slack writes < of people as &lt;
			b.WriteString(decoded.Replace(text[:start+1]))
			text = text[start+1:]
			continue
		}
		b.WriteString(decoded.Replace(text[:start]))
		b.WriteString(token(text[start+1:start+1+end], names))
		text = text[start+end+2:]
	}
	b.WriteString(decoded.Replace(text))
	return b.String()
}

// decoded undoes Slack's escapes.
var decoded = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// token is the inside of <…> as people see it.
func token(inside string, names func(kind byte, id string) string) string {
	what, label, _ := strings.Cut(inside, "|")
	label = decoded.Replace(label)
	switch {
	case strings.HasPrefix(what, "@"), strings.HasPrefix(what, "#"):
		return what[:1] + called(what[0], what[1:], label, names)
	case strings.HasPrefix(what, "!subteam^"):
		return "@" + called('!', strings.TrimPrefix(what, "!subteam^"), label, names)
	case what == "!here", what == "!channel", what == "!everyone":
		return "@" + what[1:]
	case strings.HasPrefix(what, "!"):
		if label != "" {
			return label
		}
		return "<" + decoded.Replace(what) + ">"
	}
	return linked(decoded.Replace(what), label)
}

// called is a name without its sign: the one that is looked up, the one that came along, else the id.
func called(kind byte, id, label string, names func(kind byte, id string) string) string {
	for _, name := range []string{names(kind, id), label} {
		if name = strings.TrimLeft(name, "@#"); name != "" {
			return name
		}
	}
	return id
}

// linked is a link: its text and, where that does not say it, its address.
func linked(address, label string) string {
	bare := func(s string) string {
		for _, scheme := range []string{"https://", "http://", "mailto:", "tel:"} {
			s = strings.TrimPrefix(s, scheme)
		}
		return strings.TrimSuffix(s, "/")
	}
	switch {
	case label == "", label == address:
		return address
	case bare(label) == bare(address):
		if strings.HasPrefix(address, "http") {
			return address
		}
		return label
	}
	return label + " (" + address + ")"
}

// addressed takes the bot's name off the beginning of a message as Slack sends it, as often as it stands there, with a comma or
// colon behind it. mentioned: the bot is named somewhere.
func addressed(text, bot string) (rest string, mentioned bool) {
	if bot == "" {
		return text, false
	}
	plain, labelled := "<@"+bot+">", "<@"+bot+"|"
	mentioned = strings.Contains(text, plain)
	if at := strings.Index(text, labelled); at >= 0 {
		mentioned = mentioned || strings.Contains(text[at:], ">")
	}
	for {
		rest = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(rest, plain):
			rest = rest[len(plain):]
		case strings.HasPrefix(rest, labelled) && strings.Contains(rest, ">"):
			rest = rest[strings.IndexByte(rest, '>')+1:]
		default:
			return rest, mentioned
		}
		rest = strings.TrimLeft(rest, ",:")
		text = rest
	}
}
