package native

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core/hrf"
)

// LossError says what of an envelope the token form can't hold.
type LossError struct{ Losses []Loss }

// Loss is one thing that the token form can't hold.
type Loss struct {
	Pointer string // RFC 6901, in the envelope
	Reason  string
}

// Error returns all losses.
func (e *LossError) Error() string {
	var reasons []string
	for _, l := range e.Losses {
		reasons = append(reasons, l.Pointer+": "+l.Reason)
	}
	return "the token form can't hold " + strings.Join(reasons, "; ")
}

// Write writes a valid envelope in the token form, so that Read gives the same envelope. If that is not possible the
// error is a *LossError, which names everything that the form can't hold.
func Write(e *hrf.Envelope) ([]byte, error) {
	if losses := lossesOf(e); losses != nil {
		return nil, &LossError{losses}
	}
	return render(e), nil
}

func render(e *hrf.Envelope) []byte {
	var b bytes.Buffer
	for _, m := range e.Messages {
		recipient := ""
		if m.Recipient != "" {
			recipient = " " + recipientMark + m.Recipient
		}
		b.WriteString(start + m.Role)
		if m.Channel != "" {
			b.WriteString(channel + m.Channel)
		}
		b.WriteString(recipient)
		switch {
		case m.ContentType != "":
			b.WriteString(constrain + m.ContentType)
		case isCommentary(m):
			b.WriteString(constrain + plainText) // so that Read does not guess
		}
		fmt.Fprintf(&b, "%s\n%s\n%s\n", message, body(m), endOf(m))
	}
	return b.Bytes()
}

// body returns the text of a message's content. In JSON, what could be a token is escaped.
func body(m hrf.Message) []byte {
	if m.ContentType == "" {
		return []byte(m.Content.String)
	}
	return bytes.ReplaceAll(hrf.AppendValue(nil, m.Content), []byte(bracket), []byte(`\u003c|`))
}

func endOf(m hrf.Message) string {
	for token, termination := range terminations {
		if termination == m.Termination {
			return token
		}
	}
	return end
}

// lossesOf returns all that Read would not give back.
func lossesOf(e *hrf.Envelope) []Loss {
	var losses []Loss
	add := func(pointer, format string, args ...any) {
		losses = append(losses, Loss{pointer, fmt.Sprintf(format, args...)})
	}
	if e.Version != version {
		add("/HRFVersion", "the version %q: it holds none, and is read as %s", e.Version, version)
	}
	for _, m := range e.Messages {
		if !isWord(m.Role) {
			add(m.Pointer+"/role", "a role with white space or %q", bracket)
		}
		if !isWord(m.Recipient) {
			add(m.Pointer+"/recipient", "a recipient with white space or %q", bracket)
		}
		switch {
		case isCommentary(m) && m.Termination == "":
			add(m.Pointer, `commentary of the assistant without a termination: its %s is read as "end"`, end)
		case !isCommentary(m) && m.Termination != "":
			add(m.Pointer+"/termination", `the termination "%s" outside the commentary of the assistant`, m.Termination)
		}
		if m.ContentType == "" {
			if token := tokenIn(m.Content.String); token != "" {
				add(m.Pointer+"/content", "text with the token %s", token)
			}
			if strings.Trim(m.Content.String, lineBreaks) != m.Content.String {
				add(m.Pointer+"/content", "text with line breaks at the beginning or end")
			}
		}
	}
	return losses
}

func isWord(text string) bool {
	return !strings.Contains(text, bracket) && !strings.ContainsFunc(text, unicode.IsSpace)
}

func tokenIn(text string) string {
	i := slices.IndexFunc(tokens, func(token string) bool { return strings.Contains(text, token) })
	if i < 0 {
		return ""
	}
	return tokens[i]
}
