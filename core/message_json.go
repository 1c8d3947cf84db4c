package core

import (
	"encoding/json"
	"fmt"

	"gatehouse/core/strictjson"
)

// fault is the first thing wrong with the form of a decoded message.
type fault struct{ reason string }

func faultf(format string, args ...any) *fault { return &fault{fmt.Sprintf(format, args...)} }

// MarshalJSON gives a string or a list of blocks.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.blocks != nil {
		return json.Marshal(c.blocks)
	}
	return json.Marshal(c.text)
}

// MarshalJSON writes malformed arguments as null, as the spec does.
func (t ToolCall) MarshalJSON() ([]byte, error) {
	type plain ToolCall
	if len(t.Arguments) == 0 {
		t.Arguments = json.RawMessage("null")
	}
	return json.Marshal(plain(t))
}

// UnmarshalJSON reads a message with exact key names; keys it does not know are passed over. It fails only on what is not JSON:
// a wrong shape is kept for Validate.
func (m *Message) UnmarshalJSON(data []byte) error {
	*m = Message{}
	v, err := strictjson.Parse(data)
	if err != nil {
		return err
	}
	m.fault = m.read(v, data)
	return nil
}

func (m *Message) read(v *strictjson.Value, data []byte) *fault {
	if v.Kind != strictjson.Object {
		return faultf("a message must be an object, not %s", v.Kind)
	}
	var role string
	if f := readString(v, "role", &role); f != nil {
		return f
	}
	m.Role = Role(role)
	if f := readString(v, "tool_call_id", &m.ToolCallID); f != nil {
		return f
	}
	if f := m.readContent(v.Get("content")); f != nil {
		return f
	}
	calls := v.Get("tool_calls")
	if calls == nil || calls.Kind == strictjson.Null {
		return nil
	}
	if calls.Kind != strictjson.Array {
		return faultf("tool_calls must be a list, not %s", calls.Kind)
	}
	for i, item := range calls.Items {
		call, f := readCall(item, data)
		if f != nil {
			return faultf("tool_calls[%d]: %s", i, f.reason)
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return nil
}

func (m *Message) readContent(v *strictjson.Value) *fault {
	switch {
	case v == nil || v.Kind == strictjson.Null:
		return nil
	case v.Kind == strictjson.String:
		m.Content = Text(v.String)
		return nil
	case v.Kind != strictjson.Array:
		return faultf("content must be a text or a list of blocks, not %s", v.Kind)
	}
	m.Content = Blocks()
	for i, item := range v.Items {
		b, f := readBlock(item)
		if f != nil {
			return faultf("content[%d]: %s", i, f.reason)
		}
		m.Content.blocks = append(m.Content.blocks, b)
	}
	return nil
}

func readBlock(v *strictjson.Value) (Block, *fault) {
	var b Block
	if v.Kind != strictjson.Object {
		return b, faultf("a block must be an object, not %s", v.Kind)
	}
	var kind string
	for _, field := range []struct {
		key string
		to  *string
	}{{"type", &kind}, {"text", &b.Text}, {"signature", &b.Signature}, {"data", &b.Data}, {"media_type", &b.MediaType}, {"detail", &b.Detail}} {
		if f := readString(v, field.key, field.to); f != nil {
			return b, f
		}
	}
	b.Type = BlockType(kind)
	source := v.Get("source")
	if source == nil || source.Kind == strictjson.Null {
		return b, nil
	}
	if source.Kind != strictjson.Object {
		return b, faultf("source must be an object, not %s", source.Kind)
	}
	b.Source = &ImageSource{}
	for key, to := range map[string]*string{"type": &b.Source.Type, "url": &b.Source.URL, "base64_data": &b.Source.Base64Data} {
		if f := readString(source, key, to); f != nil {
			return b, faultf("source: %s", f.reason)
		}
	}
	return b, nil
}

func readCall(v *strictjson.Value, data []byte) (ToolCall, *fault) {
	var c ToolCall
	if v.Kind != strictjson.Object {
		return c, faultf("a tool call must be an object, not %s", v.Kind)
	}
	for key, to := range map[string]*string{"id": &c.ID, "name": &c.Name, "signature": &c.Signature} {
		if f := readString(v, key, to); f != nil {
			return c, f
		}
	}
	switch args := v.Get("arguments"); {
	case args == nil || args.Kind == strictjson.Null:
		c.Arguments = json.RawMessage("null")
	case args.Kind == strictjson.Object:
		c.Arguments = args.Raw(data)
	default:
		return c, faultf("arguments must be an object, not %s", args.Kind)
	}
	return c, nil
}

// readString sets to where key is there and not null.
func readString(v *strictjson.Value, key string, to *string) *fault {
	s := v.Get(key)
	if s == nil || s.Kind == strictjson.Null {
		return nil
	}
	if s.Kind != strictjson.String {
		return faultf("%s must be a text, not %s", key, s.Kind)
	}
	*to = s.String
	return nil
}
