package openharness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// payload is what is stored of a message. Digest is that of the whole request, by which a repetition is told from another request under
// the same id.
type payload struct {
	Request     string            `json:"request,omitempty"` // the request_id
	Digest      string            `json:"digest"`
	Text        string            `json:"text,omitempty"`
	Attachments []wire.Attachment `json:"attachments,omitempty"`
}

// Parse reads the payload of a message. It is put into the mailbox, too, before its turn begins: a page that is opened later shows what was
// said. It is put there once, however often the turn is attempted.
func (e *Engine) Parse(ctx context.Context, ev core.Event) (core.Input, error) {
	var p payload
	if err := json.Unmarshal(ev.Payload, &p); err != nil || !utf8.Valid(ev.Payload) {
		return core.Input{}, core.Wrap(core.ChatMessageShapeInvalid, err, "The request can't be read. Please send it again.")
	}
	m := core.Message{Role: core.User, Content: core.Text(p.said())}
	if err := m.Validate(); err != nil {
		return core.Input{}, err
	}
	if err := e.put(ctx, ev.Conversation, "said/"+ev.ID, 0, storedPost{Kind: kindSaid, Text: p.said(), Request: p.Request}); err != nil {
		return core.Input{}, err
	}
	return core.Input{Message: &m}, nil
}

// OldClick reads a decision that was stored with its answer as JSON in JSON, and without its approval.
func (e *Engine) OldClick(ev core.Event) (core.Click, error) {
	var p struct {
		core.Click
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(ev.Payload, &p); err != nil || p.Choice == "" || p.Approval != "" {
		return core.Click{}, core.Wrap(core.Invalid, err, "The decision can't be read. Please send it again.")
	}
	p.Approval, p.Click.Answer = core.ApprovalID(ev.Subject()), string(p.Answer)
	return p.Click, nil
}

// said is the text of a message, with its attachments: they are references, which nobody here follows.
func (p payload) said() string {
	text := p.Text
	for _, a := range p.Attachments {
		text += "\n" + reference(a)
	}
	return strings.TrimSpace(text)
}

func reference(a wire.Attachment) string {
	name := chat.OneLine(chat.Clean(cmp.Or(a.Filename, a.RefID, a.AssetID, "file")))
	about := name
	if kind := chat.OneLine(chat.Clean(a.MIMEType)); kind != "" {
		about += ", " + kind
	}
	if a.Size > 0 {
		about += fmt.Sprintf(", %d bytes", a.Size)
	}
	if uri := chat.OneLine(chat.Clean(cmp.Or(a.URI, a.AssetID, a.RefID))); uri != name {
		about += ", " + uri
	}
	return "[attachment: " + about + "]"
}
