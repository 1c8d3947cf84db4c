package heard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core/strictjson"
)

// maxNested is how deep the blocks of a message are read. A cell of a table that a person pasted is nine deep.
const maxNested = 24

// withBlocks adds to a text in mrkdwn what people see in the blocks of its message. Slack says most of what a person
// wrote in both; a table is in the blocks alone.
func withBlocks(text string, blocks json.RawMessage) string {
	var all strings.Builder
	if !slices.Contains(noPreview, strings.TrimSpace(text)) {
		all.WriteString(text)
	}
	known := wordsOf(all.String())
	for _, block := range items(blocks) {
		p := partOf(block)
		shown := strings.TrimSpace(p.shown(block, maxNested-1))
		words, isTable := wordsOf(shown), p.Type == "table" || p.Type == "data_table"
		switch {
		case isTable && strings.Contains(all.String(), shown), !isTable && all.Len() > 0 && within(words, known):
			continue
		case !isTable && within(known, words):
			all.Reset()
		default:
			all.WriteString("\n")
		}
		all.WriteString(shown)
		maps.Copy(known, words)
	}
	return strings.TrimSpace(all.String())
}

// noPreview is what Slack writes where it has no text.
var noPreview = []string{"[no preview available]", "This content can't be displayed."}

// holds reports whether all words of a part are in a text. Marks, bullets and the labels of mentions may differ.
func holds(text, part string) bool { return within(wordsOf(part), wordsOf(text)) }

// within reports whether all of some words are among others.
func within(words, others map[string]bool) bool {
	for word := range words {
		if len(words) > len(others) || !others[word] {
			return false
		}
	}
	return true
}

// wordsOf are the words of a text.
func wordsOf(text string) map[string]bool {
	text = mrkdwn.Tokens.ReplaceAllStringFunc(text, func(part string) string {
		if strings.HasPrefix(part, "<@") || strings.HasPrefix(part, "<#") || strings.HasPrefix(part, "<!") {
			part, _, _ = strings.Cut(part, "|")
		}
		return part
	})
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.So, unicode.Sc)
		return !isWord || strings.ContainsRune(bullets, r)
	}) {
		words[word] = true
	}
	return words
}

// items are the values of a JSON array, none of anything else.
func items(array json.RawMessage) (all []json.RawMessage) {
	_ = json.Unmarshal(array, &all)
	return all
}

// stringOf is a JSON string, "" for anything else.
func stringOf(value json.RawMessage) (s string) {
	_ = json.Unmarshal(value, &s)
	return s
}

// part is what is read of a block, of an element of one, and of a text object.
type part struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Value    json.RawMessage `json:"value"`
	Elements json.RawMessage `json:"elements"`
	Style    json.RawMessage `json:"style"`

	User      string          `json:"user_id"`
	Channel   string          `json:"channel_id"`
	Group     string          `json:"usergroup_id"`
	Range     string          `json:"range"`
	URL       string          `json:"url"`
	Name      string          `json:"name"`
	SkinTone  int             `json:"skin_tone"`
	Timestamp json.RawMessage `json:"timestamp"`
	Format    string          `json:"format"`
	Fallback  string          `json:"fallback"`
	AltText   string          `json:"alt_text"`

	Indent int `json:"indent"`
	Offset int `json:"offset"`

	Caption string          `json:"caption"`
	Rows    json.RawMessage `json:"rows"`
	Cells   json.RawMessage `json:"cells"`
}

// partOf reads a part: nothing of what is no object.
func partOf(value json.RawMessage) (p part) {
	_ = inbound.Decode(value, &p)
	return p
}

// shownText is what people see of a block, or of anything inside of one, as mrkdwn.
func shownText(value json.RawMessage, depth int) string {
	if depth--; depth < 0 {
		return "…"
	}
	return partOf(value).shown(value, depth)
}

// shown is what people see of a part, which was read from value. Of a kind that is not known here it is every text.
func (p part) shown(value json.RawMessage, depth int) string {
	switch p.Type {
	case "mrkdwn", "markdown":
		return stringOf(p.Text)
	case "plain_text":
		return plain(stringOf(p.Text))
	case "raw_text", "raw_number":
		var n json.Number
		_ = json.Unmarshal(p.Value, &n)
		return mrkdwn.Escape(cmp.Or(stringOf(p.Text), n.String()))
	case "rich_text_section", "rich_text_quote", "rich_text_preformatted":
		return p.joined(depth)
	case "rich_text_list":
		return p.list(depth)
	case "table", "data_table":
		return p.table(depth)
	case "image":
		if alt := plain(p.AltText); strings.TrimSpace(alt) != "" {
			return "[image: " + alt + "]"
		}
	case "button":
		return "[" + strings.Join(eachText(value, depth), " ") + "]"
	}
	if text, ok := p.inline(); ok {
		return text
	}
	return strings.Join(eachText(value, depth), "\n")
}

// plain is a text that Slack does not parse, as mrkdwn.
func plain(s string) string { return mrkdwn.Escape(mrkdwn.Unescape(s)) }

// inline is an element of rich text as mrkdwn; ok is false for anything else.
func (p part) inline() (text string, ok bool) {
	switch p.Type {
	case "text":
		return p.styled(mrkdwn.Escape(stringOf(p.Text))), true
	case "link":
		label := mrkdwn.Escape(stringOf(p.Text))
		if label == "" {
			return "<" + mrkdwn.Escape(p.URL) + ">", true
		}
		return p.styled("<" + mrkdwn.Escape(p.URL) + "|" + label + ">"), true
	case "user":
		return p.styled("<@" + p.User + ">"), true
	case "channel":
		return "<#" + p.Channel + ">", true
	case "usergroup":
		return p.styled("<!subteam^" + p.Group + ">"), true
	case "broadcast":
		return "<!" + p.Range + ">", true
	case "color":
		return mrkdwn.Escape(stringOf(p.Value)), true
	case "date":
		return fmt.Sprintf("<!date^%s^%s|%s>", p.Timestamp, mrkdwn.Escape(p.Format), mrkdwn.Escape(p.Fallback)), true
	case "emoji":
		if p.SkinTone > 1 {
			return ":" + p.Name + "::skin-tone-" + strconv.Itoa(p.SkinTone) + ":", true
		}
		return ":" + p.Name + ":", true
	}
	return "", false
}

// styled puts the marks around a text that Slack has in the text of a message.
func (p part) styled(text string) string {
	var style struct {
		Bold, Italic, Strike, Code bool
	}
	if json.Unmarshal(p.Style, &style) != nil || strings.TrimSpace(text) == "" {
		return text
	}
	for _, mark := range []struct {
		on   bool
		sign string
	}{{style.Code, "`"}, {style.Strike, "~"}, {style.Italic, "_"}, {style.Bold, "*"}} {
		if mark.on {
			text = mark.sign + text + mark.sign
		}
	}
	return text
}

// joined is what stands in one line or in one paragraph.
func (p part) joined(depth int) string {
	var b strings.Builder
	for _, element := range items(p.Elements) {
		b.WriteString(shownText(element, depth))
	}
	switch p.Type {
	case "rich_text_quote":
		return "&gt; " + strings.ReplaceAll(b.String(), "\n", "\n&gt; ")
	case "rich_text_preformatted":
		return "```" + b.String() + "```"
	}
	return b.String()
}

const (
	bullets     = "•◦▪"
	deepestItem = 8
)

func (p part) list(depth int) string {
	indent := min(max(p.Indent, 0), deepestItem)
	var lines []string
	for n, element := range items(p.Elements) {
		sign := string([]rune(bullets)[indent%3])
		if stringOf(p.Style) == "ordered" {
			sign = strconv.Itoa(p.Offset+n+1) + "."
		}
		lines = append(lines, strings.Repeat("    ", indent)+sign+" "+shownText(element, depth))
	}
	return strings.Join(lines, "\n")
}

// table has a line for each row, and " | " between the cells.
func (p part) table(depth int) string {
	var lines []string
	if p.Caption != "" {
		lines = append(lines, plain(p.Caption))
	}
	for _, row := range items(p.Rows) {
		r := partOf(row) // a row may be an object with its cells
		var cells []string
		for _, cell := range append(items(row), items(r.Cells)...) {
			cells = append(cells, cellText(cell, depth))
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return strings.Join(lines, "\n")
}

// cellText is a cell on one line, in which nothing looks like the end of the cell.
func cellText(cell json.RawMessage, depth int) string {
	text := shownText(cell, depth)
	if s := stringOf(cell); s != "" {
		text = mrkdwn.Escape(s)
	}
	return mrkdwn.Tokens.ReplaceAllStringFunc(safetext.OneLine(text), func(part string) string {
		if strings.HasPrefix(part, "<") && strings.HasSuffix(part, ">") {
			return part
		}
		return strings.ReplaceAll(part, "|", `\|`)
	})
}

// wordy are the members that hold words where they are strings; unseen are those that nobody sees until they press
// something.
var (
	wordy = []string{
		"text", "title", "subtitle", "description", "caption", "alt_text", "label", "header", "body", "content",
		"summary",
	}
	unseen = []string{"confirm", "metadata"}
)

// eachText is every text in a value, in its order.
func eachText(value json.RawMessage, depth int) (all []string) {
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			all = append(all, strings.Trim(text, "\n"))
		}
	}
	r := strictjson.NewReader(value, strictjson.Replace)
	switch r.Kind() {
	case strictjson.Array:
		for _, item := range items(value) {
			add(shownText(item, depth))
		}
	case strictjson.Object:
		_ = r.Object(func(key []byte) error { // of what can't be read the rest is left out
			name, kind := string(key), r.Kind()
			member, err := r.Skip()
			switch {
			case slices.Contains(unseen, name):
			case kind == strictjson.String && slices.Contains(wordy, name):
				add(plain(stringOf(member)))
			case kind == strictjson.Object, kind == strictjson.Array:
				add(shownText(member, depth))
			}
			return err
		})
	}
	return all
}
