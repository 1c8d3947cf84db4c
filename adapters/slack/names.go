package slack

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// names are those of the people, channels and user groups that a message mentions, by their ids. At most
// inbound.MaxNames are looked up for one message, with all that it points at.
type names struct {
	s     *Slack
	known heard.Names
	left  int
}

func (s *Slack) newNames() *names {
	return &names{s: s, known: heard.Names{}, left: inbound.MaxNames}
}

// hint keeps the name of a message's author that Slack sent with it, for where it does not tell it when asked, as of a
// person of another workspace.
func (n *names) hint(m heard.Message) {
	if name := m.PersonName(); name != "" && m.User != "" {
		n.s.names.Add(m.User, name, time.Nanosecond)
	}
}

// learn looks up, together, the names in some texts that Slack did not send with them.
func (n *names) learn(ctx context.Context, texts ...string) {
	var ask []string // with @ or # in front
	for _, text := range texts {
		for _, part := range mrkdwn.Tokens.FindAllString(text, -1) {
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
	found := inbound.LookUp(ask, func(key string) string {
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

// readable are messages of a thread as quotations: each with its author, its time and, as its text, everything in it
// that carries words, what it points at quoted, and its files by name.
func (n *names) readable(ctx context.Context, b bot, what string, messages ...heard.Message) []core.Quotation {
	said, texts := make([]heard.Content, len(messages)), []string{}
	for i, m := range slices.Backward(messages) { // the newest names first
		said[i] = heard.Read(m)
		n.hint(m)
		texts = append(append(texts, heard.Mentioning(m.Author().ID)), said[i].Texts()...)
	}
	n.learn(ctx, texts...)
	all := make([]core.Quotation, len(messages))
	for i, m := range messages {
		all[i] = m.Quote(what, said[i], n.known)
		b.attribute(&all[i], m)
	}
	return all
}
