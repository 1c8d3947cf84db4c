package slack

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
)

// names are those of the people, channels and user groups that a message mentions, by their ids. At most
// chat.MaxNames are looked up for one message, with all that it points at.
type names struct {
	s     *Slack
	known map[string]string
	left  int
}

func (s *Slack) newNames() *names {
	return &names{s: s, known: map[string]string{}, left: chat.MaxNames}
}

// hint keeps the name of a message's author that Slack sent with it, for where it does not tell it when asked, as of a
// person of another workspace.
func (n *names) hint(m slackMessage) {
	var person struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
	}
	_ = chat.Decode(m.Person, &person) // of any form
	if name := chat.Name(cmp.Or(person.DisplayName, person.RealName)); name != "" && m.User != "" {
		n.s.names.Add(m.User, name, time.Nanosecond)
	}
}

// learn looks up, together, the names in some texts that Slack did not send with them.
func (n *names) learn(ctx context.Context, texts ...string) {
	var ask []string // with @ or # in front
	for _, text := range texts {
		for _, part := range token.FindAllString(text, -1) {
			key := nameKey(part)
			if key == "" || len(ask) == n.left || slices.Contains(ask, key) {
				continue
			}
			if _, known := n.known[key[1:]]; !known {
				ask = append(ask, key)
			}
		}
	}
	if ask == nil {
		return
	}
	n.left -= len(ask)
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	if group := slices.IndexFunc(ask, isGroup); group >= 0 {
		n.s.handle(ctx, ask[group][1:]) // one call, after which all groups are known
	}
	found := chat.LookUp(ask, func(key string) string {
		switch {
		case isGroup(key):
			return n.s.handle(ctx, key[1:])
		case key[0] == '#':
			return n.s.channelName(ctx, key[1:])
		}
		return n.s.userName(ctx, key[1:])
	})
	for key, name := range found {
		n.known[key[1:]] = name
	}
}

// of returns the name of a person or a bot, by their id in core; "" if it is not known.
func (n *names) of(id string) string {
	user := strings.TrimPrefix(id, Name+":")
	if name := n.known[user]; name != user {
		return name
	}
	return ""
}

// nameKey is @U1, @S1 or #C1 for a token that mentions somebody or something; "" for any other, and for a channel or
// a group with its name in it.
func nameKey(part string) string {
	what, label, _ := strings.Cut(strings.Trim(part, "<>"), "|")
	group, isGroup := strings.CutPrefix(what, "!subteam^")
	switch {
	case len(part) < 2 || part[0] != '<' || part[len(part)-1] != '>':
	case len(what) > 1 && what[0] == '@', len(what) > 1 && what[0] == '#' && label == "":
		return what
	case isGroup && group != "" && label == "":
		return "@" + group
	}
	return ""
}

func isGroup(key string) bool { return strings.HasPrefix(key, "@S") }
