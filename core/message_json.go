package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

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

// UnmarshalJSON reads a message with exact key names; unknown keys are ignored. It fails only on what is not JSON:
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

// Fault is what is wrong with the form that a decoded message had; nil: it was read. Validate reports it, too.
func (m *Message) Fault() error {
	if m.fault == nil {
		return nil
	}
	return Errorf(ChatMessageShapeInvalid, "%s", m.fault.reason)
}

func (m *Message) read(v *strictjson.Value, data []byte) *fault {
	if v.Kind != strictjson.Object {
		return faultf("a message must be an object, not %s", v.Kind)
	}
	if f := readTexts(v, text{"role", (*string)(&m.Role)}, text{"tool_call_id", &m.ToolCallID}); f != nil {
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
	if f := readTexts(v, text{"type", (*string)(&b.Type)}, text{"text", &b.Text}, text{"signature", &b.Signature},
		text{"data", &b.Data},
		text{"media_type", &b.MediaType}, text{"detail", &b.Detail}); f != nil {
		return b, f
	}
	source := v.Get("source")
	if source == nil || source.Kind == strictjson.Null {
		return b, nil
	}
	if source.Kind != strictjson.Object {
		return b, faultf("source must be an object, not %s", source.Kind)
	}
	b.Source = &ImageSource{}
	if f := readTexts(source, text{"type", &b.Source.Type}, text{"url", &b.Source.URL},
		text{"base64_data", &b.Source.Base64Data}, text{"digest", &b.Source.Digest}); f != nil {
		return b, faultf("source: %s", f.reason)
	}
	if size := source.Get("size"); size != nil && b.Source.Type == SourceStored {
		n, err := size.Number.Int64()
		if err != nil {
			return b, faultf("source: size must be a whole number")
		}
		b.Source.Size = n
	}
	return b, nil
}

func readCall(v *strictjson.Value, data []byte) (ToolCall, *fault) {
	var c ToolCall
	if v.Kind != strictjson.Object {
		return c, faultf("a tool call must be an object, not %s", v.Kind)
	}
	if f := readTexts(v, text{"id", &c.ID}, text{"name", &c.Name}, text{"signature", &c.Signature}); f != nil {
		return c, f
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

// text is a member that is a text, and where it goes.
type text struct {
	key string
	to  *string
}

// readTexts sets those that are there and not null.
func readTexts(v *strictjson.Value, texts ...text) *fault {
	for _, t := range texts {
		s := v.Get(t.key)
		if s == nil || s.Kind == strictjson.Null {
			continue
		}
		if s.Kind != strictjson.String {
			return faultf("%s must be a text, not %s", t.key, s.Kind)
		}
		*t.to = s.String
	}
	return nil
}

// WithoutBOM is the text of a file without the byte order mark with which some editors begin it.
func WithoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// ReadText reads a file that a person has written, without a byte order mark. The errors are those of os.ReadFile.
func ReadText(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	return WithoutBOM(text), err
}
