package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// Block is a block or a block's element as JSON.
type Block = map[string]any

// The limits that Slack sets to what an app sends.
const (
	maxText          = 4000
	maxMarkdown      = 12000 // all markdown blocks of a message together
	maxBlocksText    = 13200 // all text of a message's blocks
	maxMessageBlocks = 50
	maxModalBlocks   = 100
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
	maxConfirmTitle  = 100
	maxConfirmText   = 300
	maxConfirmButton = 30
	maxPlaceholder   = 150
	maxLabel         = 2000
	maxAltText       = 2000
)

// checker collects what is wrong with blocks, in Slack's words and with its pointers.
type checker struct {
	wrong    []string
	blockIDs map[string]bool
	markdown int
	text     int
}

func (k *checker) fault(at, format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf("[ERROR] %s [json-pointer:%s]", fmt.Sprintf(format, args...), at))
}

func (k *checker) blocks(at string, blocks []Block, most int) {
	if len(blocks) > most {
		k.fault(at, "no more than %d items allowed", most)
	}
	k.blockIDs = map[string]bool{}
	for i, b := range blocks {
		k.block(fmt.Sprintf("%s/%d", at, i), b)
	}
}

func (k *checker) block(at string, b Block) {
	if id, ok := b["block_id"].(string); ok {
		k.long(at+"/block_id", id, 0, maxBlockID)
		if k.blockIDs[id] && id != "" {
			k.fault(at+"/block_id", "`block_id` already exists: %s", id)
		}
		k.blockIDs[id] = true
	}
	switch kind, _ := b["type"].(string); kind {
	case "section":
		k.section(at, b)
	case "header":
		k.textObject(at+"/text", b["text"], maxHeader, "plain_text")
	case "markdown":
		text, ok := b["text"].(string)
		if !ok || text == "" {
			k.fault(at+"/text", "must be more than 0 characters")
		}
		k.markdown += utf8.RuneCountInString(text)
		k.text += utf8.RuneCountInString(text)
	case "context":
		elements := k.elements(at, b, maxContext)
		for i, e := range elements {
			where := fmt.Sprintf("%s/elements/%d", at, i)
			if e["type"] == "image" {
				k.image(where, e)
			} else {
				k.textObject(where, e, maxSection, "plain_text", "mrkdwn")
			}
		}
	case "actions":
		k.interactive(at, k.elements(at, b, maxActions))
	case "image":
		k.image(at, b)
	case "input":
		k.textObject(at+"/label", b["label"], maxLabel, "plain_text")
		element, ok := b["element"].(Block)
		if !ok {
			k.fault(at, "missing required field: element")
			return
		}
		k.interactive(at+"/element", []Block{element})
	case "divider", "rich_text", "table", "video", "file", "context_actions", "data_table", "task_card", "plan":
	case "":
		k.fault(at, "missing required field: type")
	default:
		k.fault(at+"/type", "unsupported type: %s", kind)
	}
}

func (k *checker) section(at string, b Block) {
	fields, _ := b["fields"].([]any)
	if b["text"] == nil && len(fields) == 0 {
		k.fault(at, "missing required field: text")
	}
	if b["text"] != nil {
		k.textObject(at+"/text", b["text"], maxSection, "plain_text", "mrkdwn")
	}
	if len(fields) > maxFields {
		k.fault(at+"/fields", "no more than %d items allowed", maxFields)
	}
	for i, f := range fields {
		k.textObject(fmt.Sprintf("%s/fields/%d", at, i), f, maxField, "plain_text", "mrkdwn")
	}
	if accessory, ok := b["accessory"].(Block); ok {
		if accessory["type"] == "image" {
			k.image(at+"/accessory", accessory)
		} else {
			k.interactive(at+"/accessory", []Block{accessory})
		}
	}
}

func (k *checker) image(at string, b Block) {
	alt, _ := b["alt_text"].(string)
	k.long(at+"/alt_text", alt, 1, maxAltText)
	if b["image_url"] == nil && b["slack_file"] == nil {
		k.fault(at, "missing required field: image_url")
	}
	if link, ok := b["image_url"].(string); ok {
		k.long(at+"/image_url", link, 1, maxURL)
	}
}

func (k *checker) elements(at string, b Block, most int) []Block {
	raw, _ := b["elements"].([]any)
	if len(raw) == 0 {
		k.fault(at+"/elements", "no less than 1 items required")
	}
	if len(raw) > most {
		k.fault(at+"/elements", "no more than %d items allowed", most)
	}
	var elements []Block
	for i, e := range raw {
		element, ok := e.(Block)
		if !ok {
			k.fault(fmt.Sprintf("%s/elements/%d", at, i), "must be a valid element")
			continue
		}
		elements = append(elements, element)
	}
	return elements
}

// interactive checks the elements that people can use: all of one block, for their action ids must differ.
func (k *checker) interactive(at string, elements []Block) {
	seen := map[string]bool{}
	for i, e := range elements {
		where := at
		if len(elements) > 1 {
			where = fmt.Sprintf("%s/elements/%d", at, i)
		}
		if id, ok := e["action_id"].(string); ok {
			k.long(where+"/action_id", id, 0, maxActionID)
			if seen[id] && id != "" {
				k.fault(where+"/action_id", "`action_id` already exists: %s", id)
			}
			seen[id] = true
		}
		if e["placeholder"] != nil {
			k.textObject(where+"/placeholder", e["placeholder"], maxPlaceholder, "plain_text")
		}
		if options, ok := e["options"].([]any); ok && len(options) > maxOptions {
			k.fault(where+"/options", "no more than %d items allowed", maxOptions)
		}
		if confirm, ok := e["confirm"].(Block); ok {
			k.textObject(where+"/confirm/title", confirm["title"], maxConfirmTitle, "plain_text")
			k.textObject(where+"/confirm/text", confirm["text"], maxConfirmText, "plain_text", "mrkdwn")
			k.textObject(where+"/confirm/confirm", confirm["confirm"], maxConfirmButton, "plain_text")
			k.textObject(where+"/confirm/deny", confirm["deny"], maxConfirmButton, "plain_text")
		}
		switch e["type"] {
		case "button":
			k.button(where, e)
		case nil:
			k.fault(where, "missing required field: type")
		case "section", "markdown", "header", "divider":
			k.fault(where+"/type", "unsupported type: %v", e["type"])
		}
	}
}

func (k *checker) button(at string, e Block) {
	k.textObject(at+"/text", e["text"], maxButtonText, "plain_text")
	if value, ok := e["value"].(string); ok {
		k.long(at+"/value", value, 0, maxButtonValue)
	}
	if link, ok := e["url"].(string); ok {
		k.long(at+"/url", link, 0, maxURL)
	}
	if style, ok := e["style"].(string); ok && style != "primary" && style != "danger" && style != "" {
		k.fault(at+"/style", "must be one of: primary, danger")
	}
}

func (k *checker) textObject(at string, value any, most int, kinds ...string) {
	t, ok := value.(Block)
	if !ok {
		k.fault(at, "must be a valid text object")
		return
	}
	if kind, _ := t["type"].(string); !slices.Contains(kinds, kind) {
		k.fault(at+"/type", "must be one of: %v", kinds)
	}
	text, _ := t["text"].(string)
	k.long(at+"/text", text, 1, most)
	k.text += utf8.RuneCountInString(text)
}

func (k *checker) long(at, text string, least, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < least:
		k.fault(at, "must be more than %d characters", least-1)
	case n > most:
		k.fault(at, "must be less than %d characters", most+1)
	}
}

// readBlocks decodes and checks the blocks of a message, and fills in what Slack fills in.
func (s *Server) readBlocks(raw string) ([]Block, *failure) {
	if raw == "" {
		return nil, nil
	}
	var blocks []Block
	if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
		return nil, fail("invalid_blocks_format")
	}
	var k checker
	k.blocks("/blocks", blocks, maxMessageBlocks)
	switch {
	case len(k.wrong) > 0:
		return nil, failWith("invalid_blocks", k.wrong)
	case k.markdown > maxMarkdown || k.text > maxBlocksText:
		return nil, fail("msg_blocks_too_long")
	}
	return s.fillBlocks(blocks), nil
}

// fillBlocks gives each block and element the id that Slack would, and text objects their defaults. What comes back is not changed again.
func (s *Server) fillBlocks(blocks []Block) []Block {
	filled := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		b = fillTexts(b).(Block)
		if id, _ := b["block_id"].(string); id == "" {
			b["block_id"] = s.ids.next("b")
		}
		for _, e := range interactiveIn(b) {
			if id, _ := e["action_id"].(string); id == "" {
				e["action_id"] = s.ids.next("a")
			}
		}
		filled = append(filled, b)
	}
	return filled
}

func fillTexts(value any) any {
	switch v := value.(type) {
	case Block:
		v = maps.Clone(v)
		for key, inner := range v {
			v[key] = fillTexts(inner)
		}
		switch v["type"] {
		case "plain_text":
			if v["emoji"] == nil {
				v["emoji"] = true
			}
		case "mrkdwn":
			if v["verbatim"] == nil {
				v["verbatim"] = false
			}
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i, inner := range v {
			v[i] = fillTexts(inner)
		}
		return v
	}
	return value
}

// interactiveIn are the elements of a block that people can use.
func interactiveIn(b Block) []Block {
	var found []Block
	take := func(value any) {
		if e, ok := value.(Block); ok && e["type"] != "image" {
			found = append(found, e)
		}
	}
	switch b["type"] {
	case "actions":
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			take(e)
		}
	case "section":
		take(b["accessory"])
	case "input":
		take(b["element"])
	}
	return found
}
