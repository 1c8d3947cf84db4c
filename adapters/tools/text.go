package tools

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// The bounds of results, in bytes. slack is read beyond a limit, so that a secret that the limit would cut is known as
// one.
const (
	minOutput     = 1 << 10
	maxOutput     = 1 << 20
	slack         = 8 << 10
	maxDiagnostic = 500 // of what a failed call said
)

// beginning keeps the first bytes that are written to it, and drops the rest.
type beginning struct {
	kept    []byte
	most    int
	dropped bool // there was more
}

func (b *beginning) Write(p []byte) (int, error) {
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(len(p), room)]...)
	b.dropped = b.dropped || len(p) > room
	return len(p), nil
}

// ending keeps the last bytes that are written to it.
type ending struct {
	kept    []byte
	most    int
	dropped bool // there was more
}

func (e *ending) Write(p []byte) (int, error) {
	e.dropped = e.dropped || len(e.kept)+len(p) > e.most
	e.kept = append(e.kept, p[max(0, len(p)-e.most):]...)
	if over := len(e.kept) - e.most; over > 0 {
		e.kept = append(e.kept[:0], e.kept[over:]...)
	}
	return len(p), nil
}

// cut gives at most so many bytes of a text, and says so if there were more: the text has more, or something behind it
// was dropped.
func cut(ctx context.Context, text string, most int, dropped bool) string {
	if len(text) <= most && !dropped {
		return text
	}
	note := fmt.Sprintf("\n[The rest was cut: the output has more than %d bytes.]", most)
	kept := clip(text, most-len(note))
	if len(text) <= most { // hidden secrets have made it short: its last line may end with half of one
		kept = kept[:strings.LastIndexByte(kept, '\n')+1]
	}
	return tool.NoteCut(ctx, text, kept, note)
}

// clip gives the first bytes of a text, without the half of a character.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// oneLine is the beginning of what a failed call said, for an error's sentence; "" if there is nothing. Secrets are
// hidden.
func oneLine(text string, secrets []string) string {
	text = mask.Text(mask.Without(strings.ToValidUTF8(text, "\ufffd"), secrets))
	text = strings.Join(strings.Fields(text), " ")
	if short := clip(text, maxDiagnostic); short != text {
		text = short + "…"
	}
	if text != "" {
		return ": " + text
	}
	return "."
}

// last gives the end of a text, at most so many bytes, from the beginning of a line if there is one. less: it is not
// the whole, or something before it was dropped, which may have left half of a secret in the first line.
func last(text string, most int, dropped bool) (end string, less bool) {
	over := len(text) - most
	if over <= 0 && !dropped {
		return text, false
	}
	end = strings.ToValidUTF8(text[max(over, 0):], "")
	if at := strings.IndexAny(end, "\r\n"); at >= 0 {
		return end[at+1:], true
	}
	if over <= 0 {
		return "", true
	}
	return end, true
}

// body reads the text of a response, a little more than most bytes of it. Errors: tool_failed, if it is no text.
func body(r *http.Response, most int) (string, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	var from io.Reader = r.Body
	if charset, err := htmlindex.Get(params["charset"]); err == nil {
		from = transform.NewReader(from, charset.NewDecoder())
	}
	text, err := io.ReadAll(io.LimitReader(from, int64(most+slack)))
	if err != nil {
		return "", err
	}
	if kind == "" && len(text) > 0 {
		kind, _, _ = mime.ParseMediaType(http.DetectContentType(text))
	}
	if !isText(kind) {
		return "",
			core.Errorf(core.ToolFailed, "%s answered with %s, which is no text.", r.Request.URL.Hostname(), kind)
	}
	return strings.ToValidUTF8(string(text), "\ufffd"), nil
}

// isText reports whether a media type is one of texts; "" is that of an empty answer.
func isText(kind string) bool {
	switch kind {
	case "", "application/json", "application/xml", "application/javascript", "application/x-ndjson",
		"application/yaml", "application/x-yaml", "application/x-www-form-urlencoded":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}
