// Package blockkit implements Slack's blocks: what Slack refuses in them, what it fills in, what a reader sees, and
// whom they notify.
package blockkit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Block is a block or a block's element as JSON.
type Block = map[string]any

// The limits that Slack sets to what an app sends.
const (
	MaxText          = 4000
	MaxMarkdown      = 12000 // all markdown blocks of a message together
	maxBlocksText    = 13200 // all text of a message's blocks
	MaxMessageBlocks = 50
	MaxModalBlocks   = 100
	maxBlockID       = 255
	maxActionID      = 255
	maxSection       = 3000
	maxField         = 2000
	maxFields        = 10
	maxHeader        = 150
	maxContext       = 10
	maxActions       = 25
	maxButtonText    = 75
	maxButtonValue   = 2000
	maxURL           = 3000
	maxOptions       = 100
	maxChecks        = 10 // radio buttons or checkboxes
	maxOptionText    = 75
	maxOptionValue   = 150
	maxConfirmTitle  = 100
	maxConfirmText   = 300
	maxConfirmButton = 30
	maxPlaceholder   = 150
	maxInput         = 3000
	maxLabel         = 2000
	maxAltText       = 2000
	maxRows          = 100 // of a table
	maxCells         = 20  // of a row
)

// Checker collects the errors in blocks, with Slack's texts and JSON pointers.
type Checker struct {
	Wrong    []string
	blockIDs map[string]bool
	markdown int
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
		k.section(at, b)
	case "header":
		k.TextObject(at+"/text", b["text"], maxHeader, "plain_text")
	case "markdown":
		text, ok := b["text"].(string)
		if !ok || text == "" {
			k.Fault(at+"/text", "must be more than 0 characters")
		}
		k.markdown += utf8.RuneCountInString(text)
		k.text += utf8.RuneCountInString(text)
		if k.tables += tablesIn(text); k.tables > 1 {
			k.Fault(at, "only_one_table_allowed")
		}
	case "context":
		elements := k.elements(at, b, maxContext)
		for i, e := range elements {
			where := fmt.Sprintf("%s/elements/%d", at, i)
			if e["type"] == "image" {
				k.image(where, e)
			} else {
				k.TextObject(where, e, maxSection, "plain_text", "mrkdwn")
			}
		}
	case "actions":
		k.interactive(at, k.elements(at, b, maxActions))
	case "image":
		k.image(at, b)
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
	case "divider", "video", "file", "context_actions", "data_table", "task_card", "plan":
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

func (k *Checker) section(at string, b Block) {
	fields, _ := b["fields"].([]any)
	if b["text"] == nil && len(fields) == 0 {
		k.Fault(at, "missing required field: text")
	}
	if b["text"] != nil {
		k.TextObject(at+"/text", b["text"], maxSection, "plain_text", "mrkdwn")
	}
	if len(fields) > maxFields {
		k.Fault(at+"/fields", "no more than %d items allowed", maxFields)
	}
	for i, f := range fields {
		k.TextObject(fmt.Sprintf("%s/fields/%d", at, i), f, maxField, "plain_text", "mrkdwn")
	}
	if accessory, ok := b["accessory"].(Block); ok {
		if accessory["type"] == "image" {
			k.image(at+"/accessory", accessory)
		} else {
			k.interactive(at+"/accessory", []Block{accessory})
		}
	}
}

func (k *Checker) image(at string, b Block) {
	alt, _ := b["alt_text"].(string)
	k.long(at+"/alt_text", alt, 1, maxAltText)
	if b["image_url"] == nil && b["slack_file"] == nil {
		k.Fault(at, "missing required field: image_url")
	}
	if link, ok := b["image_url"].(string); ok {
		k.long(at+"/image_url", link, 1, maxURL)
	}
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

// interactive checks all interactive elements of one block, because their action ids must differ.
func (k *Checker) interactive(at string, elements []Block) {
	seen := map[string]bool{}
	for i, e := range elements {
		where := at
		if len(elements) > 1 {
			where = fmt.Sprintf("%s/elements/%d", at, i)
		}
		if id, ok := e["action_id"].(string); ok {
			k.long(where+"/action_id", id, 0, maxActionID)
			if seen[id] && id != "" {
				k.Fault(where+"/action_id", "`action_id` already exists: %s", id)
			}
			seen[id] = true
		}
		if e["placeholder"] != nil {
			k.TextObject(where+"/placeholder", e["placeholder"], maxPlaceholder, "plain_text")
		}
		if options, ok := e["options"].([]any); ok || e["type"] == "static_select" && e["option_groups"] == nil {
			k.options(where+"/options", e["type"], options)
		}
		if confirm, ok := e["confirm"].(Block); ok {
			k.TextObject(where+"/confirm/title", confirm["title"], maxConfirmTitle, "plain_text")
			k.TextObject(where+"/confirm/text", confirm["text"], maxConfirmText, "plain_text", "mrkdwn")
			k.TextObject(where+"/confirm/confirm", confirm["confirm"], maxConfirmButton, "plain_text")
			k.TextObject(where+"/confirm/deny", confirm["deny"], maxConfirmButton, "plain_text")
		}
		switch e["type"] {
		case "button":
			k.button(where, e)
		case "plain_text_input":
			initial, _ := e["initial_value"].(string)
			most := maxInput
			least, _ := e["min_length"].(float64)
			if n, ok := e["max_length"].(float64); ok {
				if n < 1 || n > maxInput {
					k.Fault(where+"/max_length", "must be 1 to %d", maxInput)
				}
				most = min(most, int(n))
			}
			if least < 0 || int(least) > most {
				k.Fault(where+"/min_length", "must be 0 to %d", most)
			}
			k.long(where+"/initial_value", initial, 0, most)
		case "number_input":
			k.number(where, e)
		case nil:
			k.Fault(where, "missing required field: type")
		case "section", "markdown", "header", "divider":
			k.Fault(where+"/type", "unsupported type: %v", e["type"])
		}
	}
}

// options checks the options of a menu or of radio buttons.
func (k *Checker) options(at string, kind any, options []any) {
	most := maxOptions
	if kind == "radio_buttons" || kind == "checkboxes" {
		most = maxChecks
	}
	switch {
	case len(options) == 0:
		k.Fault(at, "no less than 1 items required")
	case len(options) > most:
		k.Fault(at, "no more than %d items allowed", most)
	}
	for i, one := range options {
		o, where := AsBlock(one), fmt.Sprintf("%s/%d", at, i)
		k.TextObject(where+"/text", o["text"], maxOptionText, "plain_text", "mrkdwn")
		value, _ := o["value"].(string)
		k.long(where+"/value", value, 0, maxOptionValue)
	}
}

// number checks an input for a number.
func (k *Checker) number(at string, e Block) {
	decimal, ok := e["is_decimal_allowed"].(bool)
	if !ok {
		k.Fault(at, "missing required field: is_decimal_allowed")
	}
	bounds := map[string]float64{"min_value": math.Inf(-1), "max_value": math.Inf(1)}
	for key := range bounds {
		if e[key] == nil {
			continue
		}
		text, _ := e[key].(string)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsAny(text, "eExX_") || !decimal && strings.Contains(text, ".") {
			k.Fault(at+"/"+key, "must be a number")
		}
		bounds[key] = n
	}
	if bounds["min_value"] > bounds["max_value"] {
		k.Fault(at+"/min_value", "must not be greater than max_value")
	}
}

func (k *Checker) button(at string, e Block) {
	k.TextObject(at+"/text", e["text"], maxButtonText, "plain_text")
	if value, ok := e["value"].(string); ok {
		k.long(at+"/value", value, 0, maxButtonValue)
	}
	if link, ok := e["url"].(string); ok {
		k.long(at+"/url", link, 0, maxURL)
	}
	if style, ok := e["style"].(string); ok && style != "primary" && style != "danger" && style != "" {
		k.Fault(at+"/style", "must be one of: primary, danger")
	}
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
func (k *Checker) TooLong() bool { return k.markdown > MaxMarkdown || k.text > maxBlocksText }

// tablesIn counts the tables of a Markdown text, apart from those in code: a head with bars, and below it a line of
// dashes and bars.
func tablesIn(markdown string) (n int) {
	head, code := false, false
	for line := range strings.Lines(markdown) {
		line = strings.Trim(line, "> \t\n")
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if head && strings.Contains(line, "--") && strings.Trim(line, "-:| ") == "" {
			n++
		}
		head = !code && strings.Contains(line, "|") && strings.Trim(line, "-:| ") != ""
	}
	return n
}
