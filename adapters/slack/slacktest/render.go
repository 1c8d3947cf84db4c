package slacktest

import (
	"fmt"
	"regexp"
	"strings"
)

// Shown is what a reader sees of the message, as plain text: its blocks, or its text where it has none. Buttons stand in brackets. Markup and
// entities such as &lt; stand as they were sent, so that a test can tell a mention from its harmless likeness.
func (m Message) Shown() string {
	if len(m.Blocks) == 0 || m.drawn {
		return m.Text
	}
	return renderBlocks(m.Blocks)
}

func renderBlocks(blocks []Block) string {
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
	case "markdown":
		text, _ := b["text"].(string)
		return text
	case "header":
		return "# " + textOf(b["text"])
	case "divider":
		return "---"
	case "image":
		return fmt.Sprintf("(image: %v)", b["alt_text"])
	case "input":
		return fmt.Sprintf("%s: [%v]", textOf(b["label"]), asBlock(b["element"])["type"])
	case "section":
		parts := []string{}
		if text := textOf(b["text"]); text != "" {
			parts = append(parts, text)
		}
		fields, _ := b["fields"].([]any)
		for _, f := range fields {
			parts = append(parts, textOf(f))
		}
		out := strings.Join(parts, "\n")
		if accessory := asBlock(b["accessory"]); accessory != nil {
			out += " " + renderElement(accessory)
		}
		return out
	case "context", "actions":
		var parts []string
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			parts = append(parts, renderElement(asBlock(e)))
		}
		return strings.Join(parts, " ")
	case "rich_text":
		var out strings.Builder
		renderRich(&out, b)
		return out.String()
	}
	return fmt.Sprintf("(%v)", b["type"])
}

func renderElement(e Block) string {
	switch e["type"] {
	case "plain_text", "mrkdwn":
		return textOf(e)
	case "button":
		return "[" + textOf(e["text"]) + "]"
	case "image":
		return fmt.Sprintf("(image: %v)", e["alt_text"])
	}
	return fmt.Sprintf("(%v)", e["type"])
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
		renderRich(out, asBlock(inner))
	}
}

func asBlock(value any) Block {
	b, _ := value.(Block)
	return b
}

func textOf(value any) string {
	text, _ := asBlock(value)["text"].(string)
	return text
}

var (
	entity    = regexp.MustCompile(`<([@#!])?([^<>|]+)(?:\|[^<>]*)?>`)
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// richText is the block that Slack makes of a text that came without blocks.
func (s *Server) richText(text string) []Block {
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
			elements = append(elements, Block{"type": "usergroup", "usergroup_id": strings.TrimPrefix(target, "subteam^")})
		case sign == "!":
			elements = append(elements, Block{"type": "broadcast", "range": target})
		default:
			elements = append(elements, Block{"type": "link", "url": target})
		}
	}
	plain(text[at:])
	section := Block{"type": "rich_text_section", "elements": elements}
	return []Block{{"type": "rich_text", "block_id": s.ids.next("b"), "elements": []any{section}}}
}
