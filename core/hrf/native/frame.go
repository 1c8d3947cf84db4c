package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// The tokens.
const (
	start     = "<|start|>"
	channel   = "<|channel|>"
	constrain = "<|constrain|>"
	message   = "<|message|>"
	end       = "<|end|>"
	call      = "<|call|>"
	returns   = "<|return|>"
)

var tokens = []string{start, channel, constrain, message, end, call, returns}

// terminations are the tokens that end a message.
var terminations = map[string]string{end: hrf.End, call: hrf.Call, returns: hrf.Return}

// bracket begins every token.
const bracket = "<|"

// recipientMark is before a recipient.
const recipientMark = "to="

// frame is a message as it is written.
type frame struct {
	role, channel, recipient, contentType string
	body                                  part
	end                                   string // a token
}

// part is a piece of the text.
type part struct {
	text string
	at   int // its offset
}

// reader reads a text from its beginning to its end. at is the offset of what comes next.
type reader struct {
	text    string
	at      int
	omitted []Omission
}

func (r *reader) fail(at int, reason, hint string) error {
	line, column := r.place(at)
	return &SyntaxError{Line: line, Column: column, Reason: reason, Hint: hint}
}

func (r *reader) omit(at int, format string, args ...any) {
	line, column := r.place(at)
	r.omitted = append(r.omitted, Omission{Line: line, Column: column, What: fmt.Sprintf(format, args...)})
}

func (r *reader) place(at int) (line, column int) {
	before := r.text[:at]
	return strings.Count(before, "\n") + 1, at - strings.LastIndexByte(before, '\n')
}

// failInJSON moves an error from its place in a body to its place in the text.
func (r *reader) failInJSON(body part, err error) error {
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		return err
	}
	lines := strings.SplitAfterN(body.text, "\n", fault.Line)
	at := body.at + len(body.text) - len(lines[len(lines)-1]) + fault.Column - 1
	return r.fail(at, fault.Reason, "the body must be JSON; if it is text, write "+constrain+plainText)
}

// start reads to the next frame and omits the text before it. It returns false if there is none.
func (r *reader) start() bool {
	outside, _, found := strings.Cut(r.text[r.at:], start)
	if i := strings.IndexFunc(outside, isNoSpace); i >= 0 {
		r.omit(r.at+i, "text outside of messages; a message begins with %s", start)
	}
	r.at += len(outside)
	if found {
		r.at += len(start)
	}
	return found
}

func isNoSpace(c rune) bool { return !unicode.IsSpace(c) }

// frame reads a frame after its start.
func (r *reader) frame() (f frame, err error) {
	p, token, err := r.until(channel, constrain, message)
	if err != nil {
		return f, err
	}
	if err := r.role(p, &f); err != nil {
		return f, err
	}
	if f.role == "" {
		return f, r.fail(p.at, "the role is missing", "")
	}
	if token == channel {
		if p, token, err = r.until(constrain, message); err != nil {
			return f, err
		}
		if strings.TrimSpace(p.text) == "" {
			return f, r.fail(p.at, "the channel is missing", "")
		}
		if err := r.channel(p, &f); err != nil {
			return f, err
		}
	}
	if token == constrain {
		if p, _, err = r.until(message); err != nil {
			return f, err
		}
		if err := r.contentType(p, &f); err != nil {
			return f, err
		}
		if f.contentType == "" {
			return f, r.fail(p.at, "the type is missing", "")
		}
	}
	f.body, f.end, err = r.until(end, call, returns)
	return f, err
}

// until reads to the next token, which must be one of those expected.
func (r *reader) until(expected ...string) (part, string, error) {
	p, token := r.next()
	if slices.Contains(expected, token) {
		return p, token, nil
	}
	found, at := token, r.at-len(token)
	if token == "" {
		found = "the end of the text"
	}
	return part{}, "", r.fail(at, fmt.Sprintf("expected %s, found %s", strings.Join(expected, " or "), found), "")
}

// next reads to the next token and behind it. Without one, token is "", and all is read.
func (r *reader) next() (before part, token string) {
	from := r.at
	for at := from; ; at += len(bracket) {
		i := strings.Index(r.text[at:], bracket)
		if i < 0 {
			r.at = len(r.text)
			return part{r.text[from:], from}, ""
		}
		at += i
		for _, token := range tokens {
			if strings.HasPrefix(r.text[at:], token) {
				r.at = at + len(token)
				return part{r.text[from:at], from}, token
			}
		}
	}
}
