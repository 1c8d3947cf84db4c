package openharness

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// payload is what is stored of a message. Digest is that of the whole request, by which a repetition is told from
// another request under the same id.
type payload struct {
	Request     string            `json:"request,omitempty"` // the request_id
	Digest      string            `json:"digest"`
	Text        string            `json:"text,omitempty"`
	Attachments []wire.Attachment `json:"attachments,omitempty"`
	// those of Attachments that are kept here, by their asset_id
	Uploads map[string]upload `json:"uploads,omitempty"`
	Hint    wire.TaskHint     `json:"task_hint,omitzero"`
}

// payload is what is stored of the request.
func (c *call) payload(uploads map[string]upload) json.RawMessage {
	q := c.request
	p, _ := json.Marshal(payload{q.ID, q.Digest(), q.Intent, q.Attachments, uploads, q.TaskHint}) // can't fail
	return p
}

// Parse reads the payload of a message, and its uploads. It is put into the mailbox, too, before its turn begins: a
// page that is opened later shows what was said. It is put there once, however often the turn is attempted.
func (e *Engine) Parse(ctx context.Context, ev core.Event) (core.Input, error) {
	var p payload
	if err := json.Unmarshal(ev.Payload, &p); err != nil || !utf8.Valid(ev.Payload) {
		return core.Input{}, core.Wrap(core.ChatMessageShapeInvalid, err, "The request can't be read. Please send it "+
			"again.")
	}
	h := inbound.Heard{Speaker: core.Speaker{Name: ev.Actor.Name, ID: ev.Actor.ID}, Alone: true, Text: p.text(false)}
	h.Points = hinted(p.Hint, h.Speaker)
	var err error
	h.Files, err = inbound.Files(ctx, p.files(h.Speaker), func(
		ctx context.Context, f inbound.File,
	) (inbound.Content, error) {
		return e.fetch(ctx, ev, f, p.Uploads[f.ID])
	})
	if err != nil {
		return core.Input{}, err
	}
	in, err := h.Input()
	if err != nil {
		return core.Input{}, err
	}
	return in, e.repeat(ctx, ev, p)
}

// repeat puts what a person wrote into the mailbox.
func (e *Engine) repeat(ctx context.Context, ev core.Event, p payload) error {
	said := storedPost{Kind: kindSaid, Text: p.text(true), Request: p.Request}
	m := core.Mail{Mailbox: ev.Conversation, Key: keyOfSaid(ev), Opens: opening(ev, cmp.Or(p.Text, said.Text))}
	return e.put(ctx, m, said)
}

func keyOfSaid(ev core.Event) string { return "said/" + ev.ID }

// repeatFirst puts the message that an error answers before the error: its turn may have been given up before any
// attempt came so far as to parse it. What was put there once stays as it is, such as one that was erased since.
func (e *Engine) repeatFirst(ctx context.Context, event int64) error {
	known, err := e.Store.Events(ctx, core.EventFilter{Platform: Name, Seq: event, Limit: 1})
	if err != nil || len(known) == 0 || known[0].Kind() != core.KindMessage {
		return err
	}
	ev := known[0].Event
	there, err := e.Store.ListMail(ctx, core.MailFilter{Mailbox: ev.Conversation, Key: keyOfSaid(ev), Limit: 1})
	var p payload
	if err != nil || len(there) > 0 || json.Unmarshal(ev.Payload, &p) != nil { // what can't be read is not repeated
		return err
	}
	return e.repeat(ctx, ev, p)
}

// fetch reads an upload for a message's event.
func (e *Engine) fetch(ctx context.Context, ev core.Event, f inbound.File, u upload) (inbound.Content, error) {
	gone := core.Errorf(core.NotAllowed, "it is not stored any more")
	if u.Image {
		known, err := e.Blobs.KeepBlob(ctx, ev, u.Digest, 0)
		if err == nil && !known {
			err = gone
		}
		return inbound.Content{Image: core.StoredImage(u.Type, u.Digest, u.Size)}, err
	}
	data, err := e.Blobs.LoadBlob(ctx, u.Digest)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return inbound.Content{}, gone
	case err != nil:
		return inbound.Content{}, err
	}
	return f.TextOf(data, int64(u.Size))
}

// files are the attachments as files: uploads, and references, which nobody here follows.
func (p payload) files(by core.Speaker) (all []inbound.File) {
	for _, a := range p.Attachments {
		f := inbound.File{
			ID: a.AssetID, Name: nameOf(a), By: by, Why: "only a reference, which gatehouse does not follow",
		}
		if u, ok := p.Uploads[a.AssetID]; ok {
			f = inbound.File{ID: a.AssetID, Name: u.Name, Type: u.Type, Size: float64(u.Size), By: by}
		}
		all = append(all, f)
	}
	return all
}

// maxHint is how much of each part of a task hint is quoted, in UTF-16 units.
const maxHint = 200

// hinted quotes what the Shell takes a message to be about.
func hinted(h wire.TaskHint, by core.Speaker) []core.Block {
	var lines []string
	for _, part := range [][2]string{{"sop_id", h.SOP}, {"plugin_id", h.Plugin}, {"business_key", h.Business}} {
		if value := safetext.Shortened(safetext.OneLine(safetext.Clean(part[1])), maxHint); value != "" {
			lines = append(lines, part[0]+": "+value)
		}
	}
	if lines == nil {
		return nil
	}
	return []core.Block{core.Quote(core.Quotation{What: "task hint", ID: by.ID, Text: strings.Join(lines, "\n")})}
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

// text is the text of a message, with its references and, if all are to be named, its uploads.
func (p payload) text(all bool) string {
	text := p.Text
	for _, a := range p.Attachments {
		u, uploaded := p.Uploads[a.AssetID]
		if uploaded {
			a = wire.Attachment{Filename: u.Name, MIMEType: u.Type, Size: int64(u.Size)}
		}
		if all || !uploaded {
			text += "\n" + reference(a)
		}
	}
	return strings.TrimSpace(text)
}

func nameOf(a wire.Attachment) string {
	return safetext.OneLine(safetext.Clean(cmp.Or(a.Filename, a.RefID, a.AssetID, "file")))
}

func reference(a wire.Attachment) string {
	name := nameOf(a)
	about := name
	if kind := safetext.OneLine(safetext.Clean(a.MIMEType)); kind != "" {
		about += ", " + kind
	}
	if a.Size > 0 {
		about += fmt.Sprintf(", %d bytes", a.Size)
	}
	if uri := safetext.OneLine(safetext.Clean(cmp.Or(a.URI, a.AssetID, a.RefID))); uri != "" && uri != name {
		about += ", " + uri
	}
	return "[attachment: " + about + "]"
}
