package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
)

const (
	maxResult  = 256 << 10 // bytes of a result that are kept
	maxFailure = 4 << 10   // of an error's text
)

// content gives the text of a result, without the entry's secrets; of one that says that it is an error, a typed error with that text.
// Secrets are hidden before anything is cut: half a secret is not recognised.
func (s *server) content(name string, r *sdk.CallToolResult) (string, error) {
	var parts, said []string
	plain := 0
	for _, c := range r.Content {
		if c, isText := c.(*sdk.TextContent); isText {
			plain++
			said = append(said, c.Text)
		}
		text := s.part(c)
		if text != "" {
			parts = append(parts, text)
		}
	}
	if r.StructuredContent != nil && (len(parts) != len(said) || !repeats(said, plain, r.StructuredContent)) {
		if structured, err := json.Marshal(r.StructuredContent); err == nil {
			parts = append(parts, core.WithoutSecrets(string(structured), s.secrets))
		}
	}
	text := strings.Join(parts, "\n")
	all := len(text)
	text = strings.ToValidUTF8(s.hide(text[:min(all, 2*maxResult)]), "\ufffd") // to look for forms of secrets in all of it would take seconds
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
		return fmt.Sprintf("%s\n(The result was cut: it had %d bytes.)", kept, all), nil
	}
	return text, nil
}

// part gives the text of a part, or a note of one that has none.
func (s *server) part(c sdk.Content) string {
	short := func(text string, limit int) string { return cut(s.hide(text), limit) }
	note := func(kind, media string, size int) string {
		return fmt.Sprintf("(%s, %s, %d bytes; it is not shown)", kind, short(media, 100), size)
	}
	switch c := c.(type) {
	case *sdk.TextContent:
		return core.WithoutSecrets(c.Text, s.secrets)
	case *sdk.ImageContent:
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
			return fmt.Sprintf("(the resource %s:)\n%s", short(c.Resource.URI, 1000), core.WithoutSecrets(c.Resource.Text, s.secrets))
		}
		return note("the resource "+short(c.Resource.URI, 1000), c.Resource.MIMEType, len(c.Resource.Blob))
	}
	return ""
}

// repeats reports whether the one text of a result is its structured content in JSON, as the protocol recommends.
func repeats(parts []string, plain int, structured any) bool {
	var same any
	return plain == 1 && len(parts) == 1 && json.Unmarshal([]byte(parts[0]), &same) == nil && reflect.DeepEqual(same, structured)
}
