package anthropic

import (
	"slices"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// keep is the content of an answer as it came, if there is more in it than texts and calls: thinking stands between the
// calls that followed from it, and goes back in its place or not at all; what tools of the vendor's own did is in no
// message of ours, nor are arguments that are no object. nil: a message says it all.
func keep(content *strictjson.Value, raw []byte) *core.Kept {
	for _, item := range content.Items {
		switch modelapi.Text(item, "type") {
		case "text":
		case "tool_use":
			if input := item.Get("input"); isObject(input) || isNone(input) {
				continue
			}
			return &core.Kept{Data: content.Raw(raw)}
		default:
			return &core.Kept{Data: content.Raw(raw)}
		}
	}
	return nil
}

// badInput is what the API wants around arguments that are no object, so that a model sees its mistake
// (platform.claude.com, fine-grained tool streaming).
const badInput = "INVALID_JSON"

func isObject(v *strictjson.Value) bool { return v != nil && v.Kind == strictjson.Object }

// isNone reports whether there are no arguments.
func isNone(v *strictjson.Value) bool {
	if v == nil || v.Kind == strictjson.Null {
		return true
	}
	return v.Kind == strictjson.String && slices.Contains([]string{"", "null"}, strings.TrimSpace(v.String))
}

// kept are the blocks of a message as they came, with the ids and names that its calls have in this request. nil: they
// were not kept.
func (h *history) kept(m core.Message) (blocks []object) {
	if m.Kept == nil || !h.thinking {
		return nil
	}
	v, err := strictjson.Parse(m.Kept.Data, strictjson.Repeats)
	if err != nil {
		return nil
	}
	calls := 0
	for _, item := range v.Items {
		block, ok := item.Any().(object)
		if !ok || block["type"] == "tool_use" && calls == len(m.ToolCalls) {
			return nil
		}
		if isThinking(block) && m.Kept.Old {
			continue
		}
		if text, _ := block["text"].(string); block["type"] == "text" && strings.TrimSpace(text) == "" {
			continue // the API refuses what it sent
		}
		if block["type"] == "tool_use" {
			block["name"] = h.names.Wire(m.ToolCalls[calls].Name)
			switch input := item.Get("input"); {
			case isNone(input):
				block["input"] = object{}
			case !isObject(input):
				block["input"] = object{badInput: block["input"]}
			}
			calls++
		}
		blocks = append(blocks, block)
	}
	if calls < len(m.ToolCalls) {
		return nil
	}
	return blocks
}

// isThinking reports whether a block belongs to what came before it, and to the model.
func isThinking(block object) bool {
	return block["type"] == "thinking" || block["type"] == "redacted_thinking"
}
