package message

import (
	"regexp"
	"slices"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Reach is a part of a message that pings someone, hides a link or loads a preview.
type Reach struct {
	Kind   string // "user", "role", "everyone", "here", "reply", "link" (with a label of its own), "preview"
	Target string // an id, or an address
	Label  string // of a link: the text that a reader sees
}

var (
	labelledLink = regexp.MustCompile(`\[([^\]\n]+)\]\(<?(https?://[^)\s>]+)>?(?: "[^"]*")?\)`)
	bareLink     = regexp.MustCompile(`(<?)(https?://[^\s<>()\[\]]+)(>?)`)
)

// Reaches returns the mentions that ping (whatever the permissions of the sender), the links with a label, and the
// links that get a preview, from the message's texts, its allowed_mentions and its flags.
func (m Message) Reaches() []Reach {
	var found []Reach
	add := func(r Reach) {
		if !slices.Contains(found, r) {
			found = append(found, r)
		}
	}
	a := readAllowed(m.Allowed)
	for _, e := range m.Embeds { // a mention in an embed never pings, a link there can be clicked
		for _, text := range embedTexts(e) {
			for _, l := range linksIn(withoutCode(text)) {
				add(l)
			}
		}
	}
	text := withoutCode(strings.Join(m.texts(), "\n"))
	for _, f := range userMention.FindAllStringSubmatch(text, -1) {
		if a.users || slices.Contains(a.userIDs, f[1]) {
			add(Reach{Kind: "user", Target: f[1]})
		}
	}
	for _, f := range roleMention.FindAllStringSubmatch(text, -1) {
		if a.roles || slices.Contains(a.roleIDs, f[1]) {
			add(Reach{Kind: "role", Target: f[1]})
		}
	}
	for _, f := range allMention.FindAllStringSubmatch(text, -1) {
		if a.everyone {
			add(Reach{Kind: f[1]})
		}
	}
	if m.Type == wire.TypeReply && m.ReplyTo != "" && a.reply {
		add(Reach{Kind: "reply", Target: m.ReplyTo})
	}
	for _, l := range linksIn(text) {
		add(l)
	}
	if m.Flags&wire.FlagSuppressEmbeds == 0 {
		for _, l := range bareLink.FindAllStringSubmatch(text, -1) {
			if l[1] != "<" || l[3] != ">" {
				add(Reach{Kind: "preview", Target: l[2]})
			}
		}
	}
	return found
}

// escaped is an escaped character.
var escaped = regexp.MustCompile("\\\\[!-/:-@\\[-`{-~]")

// escapeBase is the first private-use code point that stands for an escaped character while links are searched.
const escapeBase = '\uE000'

// linksIn returns the links with a label. An escaped bracket makes no link.
func linksIn(text string) []Reach {
	text = escaped.ReplaceAllStringFunc(text, func(s string) string { return string(escapeBase + rune(s[1])) })
	read := func(s string) string {
		return strings.Map(func(r rune) rune {
			if escapeBase <= r && r < escapeBase+128 {
				return r - escapeBase
			}
			return r
		}, s)
	}
	var found []Reach
	for _, l := range labelledLink.FindAllStringSubmatch(text, -1) {
		found = append(found, Reach{Kind: "link", Target: read(l[2]), Label: read(l[1])})
	}
	return found
}

func embedTexts(e wire.Object) []string {
	found := []string{wire.String(e, "title"), wire.String(e, "description")}
	for _, f := range wire.List(e, "fields") {
		found = append(found, wire.String(f, "name"), wire.String(f, "value"))
	}
	return found
}
