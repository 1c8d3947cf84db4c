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
	text string
	at   int
}

func (r *reader) fail(at int, reason, hint string) error {
	before := r.text[:at]
	return &SyntaxError{Line: strings.Count(before, "\n") + 1, Column: at - strings.LastIndexByte(before, '\n'), Reason: reason, Hint: hint}
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

// start reads to the next frame. found is false if there is none.
func (r *reader) start() (found bool, err error) {
	from := r.at
	outside, token := r.next()
	if at := strings.IndexFunc(outside.text, isNoSpace); at >= 0 {
		return false, r.fail(from+at, "text outside of messages", "a message begins with "+start)
	}
	if token != start && token != "" {
		return false, r.fail(r.at-len(token), fmt.Sprintf("unexpected %s outside of messages", token), "a message begins with "+start)
	}
	return token == start, nil
}

func isNoSpace(c rune) bool { return !unicode.IsSpace(c) }

// frame reads a frame after its start.
func (r *reader) frame() (f frame, err error) {
	p, token, err := r.until(channel, constrain, message)
	if err != nil {
		return f, err
	}
	if err := r.words(p, "role", &f.role, &f.recipient); err != nil {
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
		if err := r.words(p, "channel", &f.channel, &f.recipient); err != nil {
			return f, err
		}
	}
	if token == constrain {
		if p, _, err = r.until(message); err != nil {
			return f, err
		}
		if err := r.words(p, "type", &f.contentType, nil); err != nil {
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

// words reads a word, and a recipient where there may be one.
func (r *reader) words(p part, name string, word, recipient *string) error {
	for at := 0; ; {
		gap := strings.IndexFunc(p.text[at:], isNoSpace)
		if gap < 0 {
			return nil
		}
		at += gap
		text := p.text[at:]
		if space := strings.IndexFunc(text, unicode.IsSpace); space >= 0 {
			text = text[:space]
		}
		target := word
		to, isRecipient := strings.CutPrefix(text, recipientMark)
		if isRecipient && recipient != nil {
			target = recipient
		} else {
			to = text
		}
		switch {
		case strings.Contains(text, bracket):
			return r.fail(p.at+at, fmt.Sprintf("unknown token %s", text), "tokens are "+strings.Join(tokens, " "))
		case *target != "" || to == "":
			return r.fail(p.at+at, fmt.Sprintf("unexpected %s; the %s is one word", text, name), "")
		}
		*target = to
		at += len(text)
	}
}
