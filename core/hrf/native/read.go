package native

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// version is the HRFVersion of what Read gives.
const version = "1.0"

// plainText is the type of bodies that HRF gives no contentType.
const plainText = "text"

// SyntaxError is what is wrong with a text in the token form, and where.
type SyntaxError struct {
	Line, Column int // from 1; columns count bytes
	Reason       string
	Hint         string // what to do; may be empty
}

// Error returns position and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// Omission is something in a text that its envelope does not hold, and where.
type Omission struct {
	Line, Column int // from 1; columns count bytes
	What         string
}

// Read reads frames and returns an envelope in JSON, which hrf.Parse may still find invalid, and all that is not in it.
// The error is always a *SyntaxError.
func Read(text []byte) ([]byte, []Omission, error) {
	r := &reader{text: string(text)}
	if !utf8.Valid(text) {
		return nil, nil, r.fail(invalidUTF8(r.text), "invalid UTF-8", "")
	}
	if strings.TrimSpace(r.text) == "" {
		return nil, nil, r.fail(len(text), "there is no message", "a message begins with "+start)
	}
	e := &hrf.Envelope{Version: version}
	for r.start() {
		m, err := r.message()
		if err != nil {
			return nil, nil, err
		}
		e.Messages = append(e.Messages, m)
	}
	return hrf.Encode(e), r.omitted, nil
}

func invalidUTF8(text string) int {
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			return i
		}
	}
	return len(text)
}

// message reads a frame after its start.
func (r *reader) message() (hrf.Message, error) {
	f, err := r.frame()
	if err != nil {
		return hrf.Message{}, err
	}
	m := hrf.Message{Role: f.role, Channel: f.channel, Recipient: f.recipient, ContentType: f.contentType}
	if m.Role == hrf.Assistant && m.Channel == "" {
		m.Channel = hrf.Final
	}
	switch {
	case isCommentary(m):
		m.Termination = terminations[f.end]
	case f.end != end:
		r.omit(r.at-len(f.end), "the termination %s; only the assistant's commentary has one", terminations[f.end])
	}
	if m.ContentType == "" {
		m.ContentType = guess(m, f.body.text)
	}
	switch m.ContentType {
	case hrf.JSONContent, hrf.ScriptType, jsonOrScript:
		return r.structured(m, f.body)
	case plainText:
		m.ContentType = ""
	}
	m.Content = &strictjson.Value{Kind: strictjson.String, String: r.unwrap(f.body)}
	return m, nil
}

func isCommentary(m hrf.Message) bool { return m.Role == hrf.Assistant && m.Channel == hrf.Commentary }

// jsonOrScript is the type of a body that shows by its members which of the two it is.
const jsonOrScript = "json or harmony-script"

// guess returns the type of a body that names none.
func guess(m hrf.Message, body string) string {
	switch {
	case !isCommentary(m):
		return plainText
	case m.Termination != hrf.End:
		return hrf.JSONContent
	case strings.HasPrefix(strings.TrimLeftFunc(body, unicode.IsSpace), "{"):
		return jsonOrScript
	}
	return plainText
}

// structured reads a body that is JSON.
func (r *reader) structured(m hrf.Message, body part) (hrf.Message, error) {
	v, err := strictjson.Parse([]byte(body.text))
	if err != nil {
		return m, r.failInJSON(body, err)
	}
	if m.ContentType == jsonOrScript {
		m.ContentType = hrf.JSONContent
		if v.Get("steps") != nil {
			m.ContentType = hrf.ScriptType
		}
	}
	m.Content = v
	return m, nil
}

// lineBreaks are the characters that a text in a body neither begins nor ends with.
const lineBreaks = "\r\n"

// unwrap removes the line breaks around a body. One on either side belongs to the form; others are an omission.
func (r *reader) unwrap(body part) string {
	inner := strings.TrimPrefix(strings.TrimPrefix(body.text, "\r"), "\n")
	inner = strings.TrimSuffix(strings.TrimSuffix(inner, "\n"), "\r")
	text := strings.Trim(inner, lineBreaks)
	if text != inner {
		r.omit(body.at, "line breaks around the body")
	}
	return text
}
