// Package blockkit implements Slack's blocks: what Slack refuses in them, what it fills in, what a reader sees, and
// whom they notify.
package blockkit

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Block is a block or a block's element as JSON.
type Block = map[string]any

// Checker collects the errors in blocks, with Slack's texts and JSON pointers.
type Checker struct {
	Wrong    []string
	blockIDs map[string]bool
	tables   int
	text     int
}

// Fault adds an error at a JSON pointer.
func (k *Checker) Fault(at, format string, args ...any) {
	k.Wrong = append(k.Wrong, fmt.Sprintf("[ERROR] %s [json-pointer:%s]", fmt.Sprintf(format, args...), at))
}

// Blocks checks blocks, of which there may be at most most.
func (k *Checker) Blocks(at string, blocks []Block, most int) {
	if len(blocks) > most {
		k.Fault(at, "no more than %d items allowed", most)
	}
	k.blockIDs = map[string]bool{}
	for i, b := range blocks {
		k.block(fmt.Sprintf("%s/%d", at, i), b)
	}
}

func (k *Checker) block(at string, b Block) {
	if id, ok := b["block_id"].(string); ok {
		k.long(at+"/block_id", id, 0, maxBlockID)
		if k.blockIDs[id] && id != "" {
			k.Fault(at+"/block_id", "`block_id` already exists: %s", id)
		}
		k.blockIDs[id] = true
	}
	switch kind, _ := b["type"].(string); kind {
	case "section":
		k.TextObject(at+"/text", b["text"], maxSection, "plain_text", "mrkdwn")
	case "header":
		k.TextObject(at+"/text", b["text"], maxHeader, "plain_text")
	case "context":
		for i, e := range k.elements(at, b, maxContext) {
			k.TextObject(fmt.Sprintf("%s/elements/%d", at, i), e, maxSection, "plain_text", "mrkdwn")
		}
	case "actions":
		k.interactive(at, k.elements(at, b, maxActions))
	case "input":
		k.TextObject(at+"/label", b["label"], maxLabel, "plain_text")
		if b["hint"] != nil {
			k.TextObject(at+"/hint", b["hint"], maxLabel, "plain_text")
		}
		element, ok := b["element"].(Block)
		if !ok {
			k.Fault(at, "missing required field: element")
			return
		}
		k.interactive(at+"/element", []Block{element})
	case "rich_text":
		k.rich(at, b)
	case "table":
		k.table(at, b)
	case "divider":
	case "":
		k.Fault(at, "missing required field: type")
	default:
		k.Fault(at+"/type", "unsupported type: %s", kind)
	}
}

// table checks a table, of which Slack takes one a message.
func (k *Checker) table(at string, b Block) {
	if k.tables++; k.tables > 1 {
		k.Fault(at, "only_one_table_allowed")
	}
	rows, _ := b["rows"].([]any)
	if len(rows) == 0 || len(rows) > maxRows {
		k.Fault(at+"/rows", "must be 1 to %d rows", maxRows)
	}
	for i, row := range rows {
		cells, _ := row.([]any)
		first, _ := rows[0].([]any)
		if len(cells) == 0 || len(cells) > maxCells || len(cells) != len(first) {
			k.Fault(fmt.Sprintf("%s/rows/%d", at, i), "must be %d cells, at most %d", len(first), maxCells)
		}
		for j, cell := range cells {
			where, c := fmt.Sprintf("%s/rows/%d/%d", at, i, j), AsBlock(cell)
			switch c["type"] {
			case "raw_text":
				k.literal(where, c)
			case "rich_text":
				k.rich(where, c)
			default:
				k.Fault(where+"/type", "unsupported type: %v", c["type"])
			}
		}
	}
}

// richParts are what may be in each part of rich text.
var richParts = map[any][]string{
	"rich_text":         {"rich_text_section", "rich_text_list", "rich_text_quote", "rich_text_preformatted"},
	"rich_text_list":    {"rich_text_section"},
	"rich_text_section": richLeaves, "rich_text_quote": richLeaves, "rich_text_preformatted": {"text", "link"},
}

var richLeaves = []string{"text", "link", "user", "usergroup", "channel", "broadcast", "emoji", "date", "color", "team"}

// rich checks rich text: what is in what, and that nothing is empty.
func (k *Checker) rich(at string, b Block) {
	if b["type"] == "text" {
		k.literal(at, b)
	}
	parts, known := richParts[b["type"]]
	if !known {
		return
	}
	elements, _ := b["elements"].([]any)
	if len(elements) == 0 {
		k.Fault(at+"/elements", "no less than 1 items required")
	}
	for i, e := range elements {
		where := fmt.Sprintf("%s/elements/%d", at, i)
		if kind, _ := AsBlock(e)["type"].(string); !slices.Contains(parts, kind) {
			k.Fault(where+"/type", "unsupported type: %s", kind)
		}
		k.rich(where, AsBlock(e))
	}
}

// literal checks a text in which Slack parses nothing.
func (k *Checker) literal(at string, b Block) {
	text, _ := b["text"].(string)
	if text == "" {
		k.Fault(at+"/text", "must be more than 0 characters")
	}
	k.text += utf8.RuneCountInString(text)
}

func (k *Checker) elements(at string, b Block, most int) []Block {
	raw, _ := b["elements"].([]any)
	if len(raw) == 0 {
		k.Fault(at+"/elements", "no less than 1 items required")
	}
	if len(raw) > most {
		k.Fault(at+"/elements", "no more than %d items allowed", most)
	}
	var elements []Block
	for i, e := range raw {
		element, ok := e.(Block)
		if !ok {
			k.Fault(fmt.Sprintf("%s/elements/%d", at, i), "must be a valid element")
			continue
		}
		elements = append(elements, element)
	}
	return elements
}

// TextObject checks a text object of one of the kinds.
func (k *Checker) TextObject(at string, value any, most int, kinds ...string) {
	t, ok := value.(Block)
	if !ok {
		k.Fault(at, "must be a valid text object")
		return
	}
	if kind, _ := t["type"].(string); !slices.Contains(kinds, kind) {
		k.Fault(at+"/type", "must be one of: %v", kinds)
	}
	text, _ := t["text"].(string)
	k.long(at+"/text", text, 1, most)
	k.text += utf8.RuneCountInString(text)
}

func (k *Checker) long(at, text string, least, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < least:
		k.Fault(at, "must be more than %d characters", least-1)
	case n > most:
		k.Fault(at, "must be less than %d characters", most+1)
	}
}

// TooLong reports whether the texts of all blocks together are longer than a message may be.
func (k *Checker) TooLong() bool { return k.text > maxBlocksText }
