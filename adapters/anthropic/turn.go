package anthropic

import (
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// object is a JSON object to be sent. Its keys are sorted when it is written.
type object = map[string]any

// blank stands for a user's message without any visible text, which the API refuses.
const blank = "(blank message)"

// turn is a message of the API. User and assistant alternate strictly.
type turn struct {
	role   core.Role
	blocks []object
	plain  bool // one message that is a plain text
}

// history turns messages into the API's turns. It is made for one request.
type history struct {
	names     llm.Names
	arguments arguments
	ids       ids
	turns     []turn
	open      []openCall // of the last assistant turn, not yet answered
	thinking  bool       // it is sent
	bound     bool       // there was some
}

type openCall struct{ id, wire string }

func (h *history) add(m core.Message) error {
	if m.Role == core.ToolRole {
		return h.result(m)
	}
	if len(h.open) > 0 {
		return core.Errorf(core.ProviderInvalidRequest,
			"The call %q has no result. Every call of a message needs its result before the next message that is not "+
				"a result.", h.open[0].id)
	}
	if m.Role == core.User {
		return h.user(m)
	}
	h.assistant(m)
	return nil
}

// last is the turn that m continues: the last one, if it has that role, or a new one.
func (h *history) last(role core.Role) *turn {
	if n := len(h.turns); n > 0 && h.turns[n-1].role == role {
		return &h.turns[n-1]
	}
	h.turns = append(h.turns, turn{role: role, plain: true})
	return &h.turns[len(h.turns)-1]
}

func (h *history) user(m core.Message) error {
	var blocks []object
	for _, b := range m.Content.Blocks() {
		block, err := userBlock(b)
		if err != nil {
			return err
		}
		if block != nil {
			blocks = append(blocks, block)
		}
	}
	t := h.last(core.User)
	t.plain = t.plain && len(t.blocks) == 0 && !m.Content.IsList()
	t.blocks = append(t.blocks, blocks...)
	return nil
}

// assistant leaves out thinking that nothing follows, since the API refuses a turn that ends with it; a message of
// nothing else is left out.
func (h *history) assistant(m core.Message) {
	blocks := h.kept(m)
	if blocks == nil {
		blocks = h.blocks(m)
	}
	end := len(blocks)
	for end > 0 && isThinking(blocks[end-1]) {
		end--
	}
	if blocks = blocks[:end]; len(blocks) == 0 {
		return
	}
	calls := m.ToolCalls
	for _, block := range blocks {
		h.bound = h.bound || isThinking(block)
		if block["type"] == "tool_use" {
			call := openCall{calls[0].ID, h.ids.next(calls[0].ID)}
			h.open = append(h.open, call)
			block["id"], calls = call.wire, calls[1:]
		}
	}
	t := h.last(core.Assistant)
	t.plain = t.plain && len(t.blocks) == 0 && !m.Content.IsList() && len(blocks) == 1 && blocks[0]["type"] == "text"
	t.blocks = append(t.blocks, blocks...)
}

// blocks are those of a message that was not kept as it came: its content, then its calls.
func (h *history) blocks(m core.Message) (blocks []object) {
	for _, b := range m.Content.Blocks() {
		block := assistantBlock(b)
		if block != nil && (h.thinking || !isThinking(block)) {
			blocks = append(blocks, block)
		}
	}
	for _, c := range m.ToolCalls {
		input := h.arguments.convert(c.Name, modelapi.Arguments(c), llm.Names.Wire)
		blocks = append(blocks, object{"type": "tool_use", "name": h.names.Wire(c.Name), "input": input})
	}
	return blocks
}

// result answers the first open call of its id: ids may occur twice.
func (h *history) result(m core.Message) error {
	for i, call := range h.open {
		if call.id != m.ToolCallID {
			continue
		}
		h.open = append(h.open[:i:i], h.open[i+1:]...)
		block := object{"type": "tool_result", "tool_use_id": call.wire}
		if text := m.Content.String(); strings.TrimSpace(text) != "" {
			block["content"] = text
		}
		t := h.last(core.User)
		t.plain = false
		t.blocks = append(t.blocks, block)
		return nil
	}
	return core.Errorf(core.ProviderInvalidRequest,
		"The result for %q does not follow the message that has the call, or answers it twice.", m.ToolCallID)
}

// messages gives the turns as they are sent.
func (h *history) messages() ([]any, error) {
	if len(h.open) > 0 {
		return nil, core.Errorf(core.ProviderInvalidRequest, "The call %q has no result.", h.open[0].id)
	}
	all := make([]any, len(h.turns))
	for i, t := range h.turns {
		all[i] = object{"role": string(t.role), "content": t.content()}
	}
	return all, nil
}

func (t turn) content() any {
	switch {
	case len(t.blocks) == 0:
		return blank
	case t.plain:
		return t.blocks[0]["text"]
	}
	return t.blocks
}
