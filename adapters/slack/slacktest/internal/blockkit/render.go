package blockkit

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// Render returns what a reader sees of blocks, as plain text. Buttons are in brackets.
func Render(blocks []Block) string {
	var lines []string
	for _, b := range blocks {
		if line := renderBlock(b); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func renderBlock(b Block) string {
	switch b["type"] {
	case "header":
		return "# " + TextOf(b["text"])
	case "divider":
		return "---"
	case "input":
		element := AsBlock(b["element"])
		return fmt.Sprintf("%s: [%v]%s", TextOf(b["label"]), element["type"], optionTexts(element))
	case "section":
		return TextOf(b["text"])
	case "context", "actions":
		var parts []string
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			parts = append(parts, renderElement(AsBlock(e)))
		}
		return strings.Join(parts, " ")
	case "rich_text":
		var out strings.Builder
		renderRich(&out, b)
		return strings.TrimSuffix(out.String(), "\n")
	case "table":
		return renderTable(b)
	}
	return fmt.Sprintf("(%v)", b["type"])
}

func renderTable(b Block) string {
	var lines []string
	rows, _ := b["rows"].([]any)
	for _, row := range rows {
		line := "|"
		cells, _ := row.([]any)
		for _, cell := range cells {
			var text strings.Builder
			fmt.Fprint(&text, cmp.Or(AsBlock(cell)["text"], any("")))
			renderRich(&text, AsBlock(cell))
			line += " " + text.String() + " |"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func renderElement(e Block) string {
	switch e["type"] {
	case "plain_text", "mrkdwn":
		return TextOf(e)
	case "button":
		return "[" + TextOf(e["text"]) + "]"
	}
	return fmt.Sprintf("(%v)%s", e["type"], optionTexts(e))
}

// optionTexts returns the options of an element, "" if it has none.
func optionTexts(e Block) (text string) {
	options, _ := e["options"].([]any)
	for _, o := range options {
		text += " ○ " + TextOf(AsBlock(o)["text"])
	}
	return text
}

func renderRich(out *strings.Builder, e Block) {
	switch e["type"] {
	case "text":
		fmt.Fprint(out, e["text"])
	case "user":
		fmt.Fprintf(out, "<@%v>", e["user_id"])
	case "usergroup":
		fmt.Fprintf(out, "<!subteam^%v>", e["usergroup_id"])
	case "broadcast":
		fmt.Fprintf(out, "<!%v>", e["range"])
	case "link":
		fmt.Fprint(out, e["url"])
	}
	elements, _ := e["elements"].([]any)
	for _, inner := range elements {
		if e["type"] == "rich_text_list" {
			out.WriteString("• ")
		}
		renderRich(out, AsBlock(inner))
		if e["type"] == "rich_text_list" {
			out.WriteString("\n")
		}
	}
	if e["type"] == "rich_text_preformatted" || e["type"] == "rich_text_quote" {
		out.WriteString("\n")
	}
}

// AsBlock returns a value as a block or an object in one, nil if it is something else.
func AsBlock(value any) Block {
	b, _ := value.(Block)
	return b
}

// TextOf returns the text of a text object.
func TextOf(value any) string {
	text, _ := AsBlock(value)["text"].(string)
	return text
}

var (
	entity    = regexp.MustCompile(`<([@#!])?([^<>|]+)(?:\|[^<>]*)?>`)
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// RichText returns the block that Slack makes of a text without blocks.
func RichText(text string, newID func(kind string) string) []Block {
	if text == "" {
		return nil
	}
	var elements []any
	plain := func(part string) {
		if part != "" {
			elements = append(elements, Block{"type": "text", "text": unescaper.Replace(part)})
		}
	}
	at := 0
	for _, m := range entity.FindAllStringSubmatchIndex(text, -1) {
		plain(text[at:m[0]])
		at = m[1]
		sign, target := "", text[m[4]:m[5]]
		if m[2] >= 0 {
			sign = text[m[2]:m[3]]
		}
		switch {
		case sign == "@":
			elements = append(elements, Block{"type": "user", "user_id": target})
		case sign == "#":
			elements = append(elements, Block{"type": "channel", "channel_id": target})
		case sign == "!" && strings.HasPrefix(target, "subteam^"):
			elements = append(elements,
				Block{"type": "usergroup", "usergroup_id": strings.TrimPrefix(target, "subteam^")})
		case sign == "!":
			elements = append(elements, Block{"type": "broadcast", "range": target})
		default:
			elements = append(elements, Block{"type": "link", "url": target})
		}
	}
	plain(text[at:])
	section := Block{"type": "rich_text_section", "elements": elements}
	return []Block{{"type": "rich_text", "block_id": newID("b"), "elements": []any{section}}}
}
