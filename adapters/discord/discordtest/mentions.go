package discordtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var (
	codeSpan    = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`\n]*`")
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
	allMention  = regexp.MustCompile(`@(everyone|here)`)
)

// uncoded is a text without its code, in which nothing is a mention or a link.
func uncoded(text string) string { return codeSpan.ReplaceAllString(text, " ") }

// allowed says which mentions of a message may ping.
type allowed struct {
	users, roles, everyone bool
	userIDs, roleIDs       []string
	reply                  bool
}

// readAllowed reads allowed_mentions; without them everything pings.
func readAllowed(raw json.RawMessage) allowed {
	if len(raw) == 0 || string(raw) == "null" {
		return allowed{users: true, roles: true, everyone: true, reply: true}
	}
	var given struct {
		Parse []string `json:"parse"`
		Users []string `json:"users"`
		Roles []string `json:"roles"`
		Reply bool     `json:"replied_user"`
	}
	_ = json.Unmarshal(raw, &given)
	return allowed{
		users: slices.Contains(given.Parse, "users"), roles: slices.Contains(given.Parse, "roles"), everyone: slices.Contains(given.Parse, "everyone"),
		userIDs: given.Users, roleIDs: given.Roles, reply: given.Reply,
	}
}

// texts are all texts of a message in which a mention can ping: the content, and the text components.
func (m Message) texts() []string {
	found := []string{m.Content}
	var walk func([]object)
	walk = func(components []object) {
		for _, c := range components {
			if integer(c, "type") == componentText {
				found = append(found, word(c, "content"))
			}
			walk(list(c, "components"))
		}
	}
	walk(m.Components)
	return found
}

// mention finds whom a message pings and writes that into it.
func (s *Server) mention(m *Message) {
	a := readAllowed(m.Allowed)
	text := uncoded(strings.Join(m.texts(), "\n"))
	m.Mentions, m.Roles, m.Everyone = nil, nil, false
	for _, found := range userMention.FindAllStringSubmatch(text, -1) {
		id := found[1]
		if s.users[id] != nil && (a.users || slices.Contains(a.userIDs, id)) && !slices.Contains(m.Mentions, id) {
			m.Mentions = append(m.Mentions, id)
		}
	}
	if g := s.guilds[m.Guild]; g != nil {
		for _, found := range roleMention.FindAllStringSubmatch(text, -1) {
			id := found[1]
			known := slices.ContainsFunc(g.Roles, func(r Role) bool { return r.ID == id })
			if known && (a.roles || slices.Contains(a.roleIDs, id)) && !slices.Contains(m.Roles, id) {
				m.Roles = append(m.Roles, id)
			}
		}
	}
	if allMention.MatchString(text) && a.everyone {
		m.Everyone = m.Guild != "" && s.permissions(s.channels[m.Channel], m.Author)&MentionEveryone != 0
	}
	if m.ReplyTo != "" && m.Type == TypeReply && a.reply {
		if r := s.channels[m.Channel].byID[m.ReplyTo]; r != nil && r.Author != m.Author && !slices.Contains(m.Mentions, r.Author) {
			m.Mentions = append(m.Mentions, r.Author)
		}
	}
}
