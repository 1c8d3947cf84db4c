package blockkit

import (
	"maps"
	"slices"
)

// Fill gives each block and element an id, as Slack does, and text objects their defaults. The result is not changed
// later.
func Fill(blocks []Block, newID func(kind string) string) []Block {
	filled := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		b = fillTexts(b).(Block)
		if id, _ := b["block_id"].(string); id == "" {
			b["block_id"] = newID("b")
		}
		for _, e := range Interactive(b) {
			if id, _ := e["action_id"].(string); id == "" {
				e["action_id"] = newID("a")
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

// Interactive returns the elements of a block that people can use.
func Interactive(b Block) []Block {
	var found []Block
	take := func(value any) {
		if e, ok := value.(Block); ok {
			found = append(found, e)
		}
	}
	switch b["type"] {
	case "actions":
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			take(e)
		}
	case "input":
		take(b["element"])
	}
	return found
}
