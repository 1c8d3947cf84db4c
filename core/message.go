package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Role is the author of a message (llm-provider §3).
type Role string

// The four roles.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is the spec's ChatMessage: one type from adapter to provider (harness-chat §3, llm-provider §3). Its JSON is
// the spec's JSON. The decoder refuses no message of the wrong form: it keeps the fault, and Validate reports it, so
// that there is one validator and one category for all malformed messages.
type Message struct {
	Role       Role       `json:"role"`
	Content    Content    `json:"content,omitzero"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Kept       *Kept      `json:"-"`

	fault *fault
}

// NoOutput is the content of the tool message of a tool that said nothing: a tool message needs content (llm-provider
// §3).
const NoOutput = "[No output.]"

// Result is the tool message that answers a call. A blank text is NoOutput.
func Result(call, text string) Message {
	if strings.TrimSpace(text) == "" {
		text = NoOutput
	}
	return Message{Role: ToolRole, ToolCallID: call, Content: Text(text)}
}

// Kept is what a vendor sent with a message and wants back with it, which nobody else understands: signatures,
// encrypted reasoning. It is no part of the spec's JSON, so no export and no client has it: a store keeps it beside the
// message. Beside a tool message stand the images of its result, since its content is a text (llm-provider §3).
type Kept struct {
	// which model sent it, at which endpoint, to which account; no other is shown it
	Origin string          `json:"origin,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Images []Block         `json:"images,omitempty"` // of a tool's result; stored ones
	// it is shown in a later epoch: what is bound to the messages before it is left out
	Old bool `json:"-"`
}

// Content is the content of a message: a text, or a list of blocks in their order. The zero Content is empty.
type Content struct {
	text   string
	blocks []Block // not nil: the list form, even when it has no items
}

// Text makes content of one plain text.
func Text(s string) Content { return Content{text: s} }

// Blocks makes content of blocks.
func Blocks(b ...Block) Content { return Content{blocks: append([]Block{}, b...)} }

// IsZero reports whether the content is empty: neither text nor a list.
func (c Content) IsZero() bool { return c.text == "" && c.blocks == nil }

// Blocks gives the content as blocks: a plain text is one text block, empty content none. The result is the caller's
// own.
func (c Content) Blocks() []Block {
	if c.blocks != nil {
		return append([]Block{}, c.blocks...)
	}
	if c.text == "" {
		return nil
	}
	return []Block{{Type: TextBlock, Text: c.text}}
}

// IsList reports whether the content is in the list form.
func (c Content) IsList() bool { return c.blocks != nil }

// String joins what is readable, without thinking and images.
func (c Content) String() string {
	if c.blocks == nil {
		return c.text
	}
	text := ""
	for _, b := range c.blocks {
		if b.Type == TextBlock {
			if text != "" {
				text += "\n"
			}
			text += b.Text
		}
	}
	return text
}

// BlockType is the discriminator of a Block (llm-provider §3.1).
type BlockType string

// The four block types.
const (
	TextBlock             BlockType = "text"
	ImageBlock            BlockType = "image"
	ThinkingBlock         BlockType = "thinking"
	RedactedThinkingBlock BlockType = "redacted_thinking"
)

// Block is one content block. Type defines which fields count. Signature and Data belong to one provider and are kept
// byte for byte.
type Block struct {
	Type      BlockType    `json:"type"`
	Text      string       `json:"text,omitempty"`      // text, thinking
	Signature string       `json:"signature,omitempty"` // text, thinking
	Data      string       `json:"data,omitempty"`      // redacted_thinking
	Source    *ImageSource `json:"source,omitempty"`    // image
	MediaType string       `json:"media_type,omitempty"`
	Detail    string       `json:"detail,omitempty"` // auto, low or high
}

// The types of an image's source. The last one is our own: histories hold it in place of the bytes, which the store
// keeps.
const (
	SourceURL    = "url"
	SourceInline = "inline"
	SourceStored = "stored"
)

// ImageSource is the location of an image's bytes: {type: url, url}, {type: inline, base64_data} or {type: stored,
// digest, size}.
type ImageSource struct {
	Type       string `json:"type"`
	URL        string `json:"url,omitempty"`
	Base64Data string `json:"base64_data,omitempty"`
	Digest     string `json:"digest,omitempty"` // see Digest
	Size       int64  `json:"size,omitempty"`   // in bytes
}

// ToolCall is a model's request to call a tool. Arguments are a JSON object as it was written, or null if the model's
// text was malformed (llm-provider §3). The id is kept verbatim and may occur twice in one history: local models reuse
// ids.
type ToolCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Signature string          `json:"signature,omitempty"`
}

// OpenCalls gives the calls of msgs that no tool message answers, in order. Pairing is by position, then id: a tool
// message answers the first open call of its id in the latest message before it that has one.
func OpenCalls(msgs []Message) []ToolCall {
	type asked struct {
		by   int // the message
		call ToolCall
	}
	var open []asked
	for n, m := range msgs {
		for _, c := range m.ToolCalls {
			open = append(open, asked{n, c})
		}
		if m.Role != ToolRole {
			continue
		}
		answered := -1
		for i := len(open) - 1; i >= 0; i-- {
			if open[i].call.ID != m.ToolCallID {
				continue
			}
			if answered >= 0 && open[i].by != open[answered].by {
				break
			}
			answered = i
		}
		if answered >= 0 {
			open = slices.Delete(open, answered, answered+1)
		}
	}
	var calls []ToolCall
	for _, o := range open {
		calls = append(calls, o.call)
	}
	return calls
}

// digestPrefix begins a digest, so that another hash can follow one day.
const digestPrefix = "sha256:"

// Digest is the name under which the bytes of an image are stored: "sha256:" and their SHA-256 in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// isDigest reports whether s has the form of a digest.
func isDigest(s string) bool {
	sum, ok := strings.CutPrefix(s, digestPrefix)
	raw, err := hex.DecodeString(sum)
	return ok && err == nil && len(raw) == sha256.Size && sum == strings.ToLower(sum)
}

// StoredImage is the block of an image whose bytes are stored under their digest.
func StoredImage(mediaType, digest string, size int) Block {
	return Block{
		Type: ImageBlock, MediaType: mediaType,
		Source: &ImageSource{Type: SourceStored, Digest: digest, Size: int64(size)},
	}
}

// StoredImages gives the digests of a message's stored images and of those kept beside it, each once, in order.
func (m Message) StoredImages() []string {
	all := m.Content.blocks
	if m.Kept != nil {
		all = slices.Concat(all, m.Kept.Images)
	}
	return storedIn(all)
}

func storedIn(blocks []Block) []string {
	var all []string
	seen := map[string]bool{}
	for _, b := range blocks {
		if b.Source != nil && b.Source.Type == SourceStored && !seen[b.Source.Digest] {
			seen[b.Source.Digest] = true
			all = append(all, b.Source.Digest)
		}
	}
	return all
}

// WithImages gives the message with its stored images as inline ones, for a provider that is shown them, or for an
// export. load returns the bytes of a digest. m stays as it was.
func (m Message) WithImages(
	ctx context.Context, load func(ctx context.Context, digest string) ([]byte, error),
) (Message, error) {
	if len(storedIn(m.Content.blocks)) == 0 {
		return m, nil
	}
	blocks := m.Content.Blocks()
	for i, b := range blocks {
		if b.Source == nil || b.Source.Type != SourceStored {
			continue
		}
		data, err := load(ctx, b.Source.Digest)
		if err != nil {
			return Message{}, err
		}
		blocks[i].Source = &ImageSource{Type: SourceInline, Base64Data: base64.StdEncoding.EncodeToString(data)}
	}
	m.Content = Content{blocks: blocks}
	return m, nil
}
