package message

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

var (
	codeSpan    = regexp.MustCompile("(?s)```.*?```|``.*?``|`[^`\n]*`")
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
	allMention  = regexp.MustCompile(`@(everyone|here)`)
)

// withoutCode removes the code from a text, in which nothing is a mention or a link.
func withoutCode(text string) string { return codeSpan.ReplaceAllString(text, " ") }

// allowed are the mentions of a message that may ping.
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
		users: slices.Contains(given.Parse, "users"), roles: slices.Contains(given.Parse, "roles"),
		everyone: slices.Contains(given.Parse, "everyone"),
		userIDs:  given.Users, roleIDs: given.Roles, reply: given.Reply,
	}
}

// texts returns all texts of a message in which a mention can ping: the content and the text components.
func (m Message) texts() []string {
	found := []string{m.Content}
	var walk func([]wire.Object)
	walk = func(components []wire.Object) {
		for _, c := range components {
			if wire.Int(c, "type") == ComponentText {
				found = append(found, wire.String(c, "content"))
			}
			walk(wire.List(c, "components"))
		}
	}
	walk(m.Components)
	return found
}

// Audience has the lookups that Mention needs.
type Audience struct {
	User     func(id string) bool        // whether there is such a user
	Role     func(id string) bool        // whether the guild has such a role
	Everyone func() bool                 // whether the author may mention everyone
	AuthorOf func(message string) string // the author of a message of the channel, "" if there is none
}

// Mention sets whom a message pings.
func Mention(m *Message, in Audience) {
	a := readAllowed(m.Allowed)
	text := withoutCode(strings.Join(m.texts(), "\n"))
	m.Mentions, m.Roles, m.Everyone = nil, nil, false
	add := func(to *[]string, id string) {
		if !slices.Contains(*to, id) {
			*to = append(*to, id)
		}
	}
	for _, found := range userMention.FindAllStringSubmatch(text, -1) {
		if id := found[1]; in.User(id) && (a.users || slices.Contains(a.userIDs, id)) {
			add(&m.Mentions, id)
		}
	}
	for _, found := range roleMention.FindAllStringSubmatch(text, -1) {
		if id := found[1]; in.Role(id) && (a.roles || slices.Contains(a.roleIDs, id)) {
			add(&m.Roles, id)
		}
	}
	m.Everyone = allMention.MatchString(text) && a.everyone && in.Everyone()
	if m.ReplyTo != "" && m.Type == wire.TypeReply && a.reply {
		if author := in.AuthorOf(m.ReplyTo); author != "" && author != m.Author {
			add(&m.Mentions, author)
		}
	}
}
