package slack

import "strings"

// fromMrkdwn is what a person wrote in Slack's mrkdwn, as plain text for the agent: Slack's tokens become what the person saw, and its
// three entities are decoded, once. names gives the name of a person ('@'), a channel ('#') or a user group ('!'), "" where it does not
// know.
func fromMrkdwn(text string, names func(kind byte, id string) string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			break
		}
		end := strings.IndexAny(text[start+1:], "<>\n")
		if end < 0 || text[start+1+end] != '>' { // not a token: Slack sends a < that a person typed as &lt;
			b.WriteString(unescape.Replace(text[:start+1]))
			text = text[start+1:]
			continue
		}
		b.WriteString(unescape.Replace(text[:start]))
		b.WriteString(tokenText(text[start+1:start+1+end], names))
		text = text[start+end+2:]
	}
	b.WriteString(unescape.Replace(text))
	return b.String()
}

// tokenText is the inside of <…> as people see it.
func tokenText(inside string, names func(kind byte, id string) string) string {
	what, label, _ := strings.Cut(inside, "|")
	label = unescape.Replace(label)
	switch {
	case strings.HasPrefix(what, "@"), strings.HasPrefix(what, "#"):
		return what[:1] + nameOf(what[0], what[1:], label, names)
	case strings.HasPrefix(what, "!subteam^"):
		return "@" + nameOf('!', strings.TrimPrefix(what, "!subteam^"), label, names)
	case what == "!here", what == "!channel", what == "!everyone":
		return "@" + what[1:]
	case strings.HasPrefix(what, "!"):
		if label != "" {
			return label
		}
		return "<" + unescape.Replace(what) + ">"
	}
	return linkText(unescape.Replace(what), label)
}

// nameOf is a name without its sign: the one that is looked up, the label of the token, else the id.
func nameOf(kind byte, id, label string, names func(kind byte, id string) string) string {
	for _, name := range []string{names(kind, id), label} {
		if name = strings.TrimLeft(name, "@#"); name != "" {
			return name
		}
	}
	return id
}

// linkText is a link: its label and, where the label does not show it, its address.
func linkText(address, label string) string {
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

// cutMention removes mentions of the bot from the beginning of a message, each with a comma or colon after it. mentioned: the bot is
// mentioned somewhere.
func cutMention(text, bot string) (rest string, mentioned bool) {
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
