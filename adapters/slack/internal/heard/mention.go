package heard

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// A message mentions the bot by its user id or by one of the groups of SLACK_MENTION_GROUPS. A mention in code is
// none: people show each other there what to write.

// address matches a mention of a person or of a user group.
var address = regexp.MustCompile(`<(?:@|!subteam\^)([^<>|\n]*)(?:\|[^<>\n]*)?>`)

// code matches preformatted text and inline code, which begins and ends beside a word, not within one.
var code = regexp.MustCompile("(?s:```.+?```)|\\B`[^`\n]+`\\B")

// outsideCode is a text without what is code in it.
func outsideCode(text string) string { return code.ReplaceAllLiteralString(text, " ") }

// CutMention removes mentions of one of these ids from the beginning of a message, each with the commas and colons
// after it.
func CutMention(text string, ids ...string) string {
	rest := strings.TrimSpace(text)
	for {
		at := address.FindStringSubmatchIndex(rest)
		if at == nil || at[0] != 0 || !isOne(ids, rest[at[2]:at[3]]) {
			return rest
		}
		rest = strings.TrimSpace(strings.TrimLeft(rest[at[1]:], ",:"))
	}
}

// isOne reports whether an id is one of those; an empty one is none.
func isOne(ids []string, id string) bool { return id != "" && slices.Contains(ids, id) }

// mentions reports whether a text mentions one of these ids.
func mentions(text string, ids []string) bool {
	ours := func(m []string) bool { return isOne(ids, m[1]) }
	return slices.ContainsFunc(address.FindAllStringSubmatch(text, -1), ours)
}

// IsFor reports whether a message mentions the bot, by one of its ids. Where its text has such a mention, the blocks
// may still show that it is in code; where it has none, as that of a workflow that has only blocks, they are all
// there is, but for what a bot attaches.
func (m Message) IsFor(ids []string) bool {
	var blocks any
	named := func(in json.RawMessage) bool { // few messages
		return slices.ContainsFunc(ids, func(id string) bool { return id != "" && bytes.Contains(in, []byte(id)) })
	}
	if named(m.Blocks) {
		_ = json.Unmarshal(m.Blocks, &blocks) // of any form
	}
	plain, coded := false, false
	eachMention(blocks, false, ids, func(inCode bool) { plain, coded = plain || !inCode, coded || inCode })
	switch {
	case mentions(m.Text, ids):
		return mentions(outsideCode(m.Text), ids) && (plain || !coded)
	case plain || m.BotID == "" || !named(m.Attachments):
		return plain
	}
	m.Text, m.Blocks = "", nil // an alert has its words in what it attaches
	return mentions(outsideCode(Read(m).Text), ids)
}

// eachMention calls found for the mentions of one of these ids in blocks, or in a part of them. inCode: the part is in
// code.
func eachMention(part any, inCode bool, ids []string, found func(inCode bool)) {
	switch part := part.(type) {
	case []any:
		for _, each := range part {
			eachMention(each, inCode, ids, found)
		}
	case map[string]any:
		text := func(key string) string { s, _ := part[key].(string); return s }
		style, _ := part["style"].(map[string]any)
		inCode = inCode || style["code"] == true || text("type") == "rich_text_preformatted"
		if isOne(ids, text("user_id")) || isOne(ids, text("usergroup_id")) ||
			text("type") == "mrkdwn" && mentions(outsideCode(text("text")), ids) {
			found(inCode)
		}
		for _, key := range []string{"elements", "text", "fields"} {
			eachMention(part[key], inCode, ids, found)
		}
	}
}

// BeginsWithMention reports whether a message begins with somebody's mention: people talk to each other.
func (m Message) BeginsWithMention() bool { return leadingMention.MatchString(outsideCode(m.Text)) }

// leadingMention matches a message that begins with a person's mention, after white space and punctuation at most.
var leadingMention = regexp.MustCompile(`^(?:&(?:lt|gt|amp);|[\s\p{P}\p{S}\p{Cf}])*?<@[UW][A-Z0-9]+(?:\|[^<>\n]*)?>`)
