package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
	"gatehouse/core/tool"
)

const (
	maxResult  = 256 << 10 // bytes of a result that are kept
	maxFailure = 4 << 10   // of an error's text
)

// content gives the text of a result, without the entry's secrets; of one that says that it is an error, a typed error
// with that text. Secrets are hidden before anything is cut: half a secret is not recognised.
func (s *server) content(ctx context.Context, name string, r *sdk.CallToolResult) (string, error) {
	var parts []string
	if r.IsError {
		ctx = context.Background() // no image is shown beside a failure
	}
	for _, c := range r.Content {
		if text := s.part(ctx, c); text != "" {
			parts = append(parts, text)
		}
	}
	if r.StructuredContent != nil && !repeats(r.Content, r.StructuredContent) {
		if structured, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, s.without(string(structured)))
		}
	}
	whole := strings.Join(parts, "\n")
	all := len(whole)
	begins := min(all, 2*maxResult) // to look for forms of secrets in all of it would take seconds
	text := strings.ToValidUTF8(s.Hide(whole[:begins]), "\ufffd")
	if r.IsError {
		if text == "" {
			text = "the server says no more"
		}
		return "", core.Errorf(core.ToolFailed, "%s failed: %s", name, cut(text, maxFailure))
	}
	switch {
	case text == "":
		return "(The tool gave no text.)", nil
	case len(text) > maxResult || all > 2*maxResult:
		kept := strings.ToValidUTF8(text[:min(len(text), maxResult)], "")
		return tool.NoteCut(ctx, text+whole[begins:], kept,
			fmt.Sprintf("\n(The result was cut: it had %d bytes.)", all)), nil
	}
	return text, nil
}

// part gives the text of a part, or a note of one that has none.
func (s *server) part(ctx context.Context, c sdk.Content) string {
	short := func(text string, limit int) string { return cut(s.Hide(text), limit) }
	note := func(kind, media string, size int) string {
		return fmt.Sprintf("(%s, %s, %d bytes; it is not shown)", kind, short(media, 100), size)
	}
	switch c := c.(type) {
	case *sdk.TextContent:
		return s.without(c.Text)
	case *sdk.ImageContent:
		if tool.Image(ctx, http.DetectContentType(c.Data), c.Data) {
			return fmt.Sprintf("(an image, %s, %d bytes)", short(c.MIMEType, 100), len(c.Data))
		}
		return note("an image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return note("a sound", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("(a resource: %s %s)", short(c.Name, 200), short(c.URI, 1000))
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return ""
		}
		if c.Resource.Text != "" {
			return fmt.Sprintf("(the resource %s:)\n%s", short(c.Resource.URI, 1000), s.without(c.Resource.Text))
		}
		return note("the resource "+short(c.Resource.URI, 1000), c.Resource.MIMEType, len(c.Resource.Blob))
	}
	return ""
}

// repeats reports whether structured content says what the parts of a result say: it is, or has under its only name,
// what they are.
func repeats(parts []sdk.Content, structured any) bool {
	if is(parts, structured) {
		return true
	}
	if object, ok := structured.(map[string]any); ok && len(object) == 1 {
		for _, only := range object {
			return is(parts, only)
		}
	}
	return false
}

// is reports whether a value is the one part of a result, or the list of its parts.
func is(parts []sdk.Content, v any) bool {
	if len(parts) == 1 && isPart(parts[0], v) {
		return true
	}
	list, ok := v.([]any)
	return ok && len(parts) > 0 && slices.EqualFunc(parts, list, isPart)
}

// isPart reports whether a value is a part of a result: its text, the JSON that its text is, or the whole part.
func isPart(part sdk.Content, v any) bool {
	if text, ok := part.(*sdk.TextContent); ok {
		var same any
		if v == any(text.Text) || json.Unmarshal([]byte(text.Text), &same) == nil && reflect.DeepEqual(same, v) {
			return true
		}
	}
	var whole any
	text, err := json.Marshal(part)
	return err == nil && json.Unmarshal(text, &whole) == nil && reflect.DeepEqual(whole, v)
}
