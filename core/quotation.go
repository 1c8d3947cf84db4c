package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
)

// Quotation is something that a message points at and that its author did not write in it: a forwarded message, one of
// the thread above, the message that it replies to, a file. The model is shown it with its author, apart from what the
// person says, and nothing in it is a command, a decision or a mention.
//
//	{"quoted":"forwarded message","name":"Bob","id":"slack:U2","at":"2026-11-24T09:00:00Z"} wrote:
//	> The invoice 4711 is wrong
//
//	{"quoted":"file","file":"notes.txt","name":"Ann","id":"slack:U1","end":"d9014c4624844aa5"} contains:
//	first line
//	[end of file d9014c4624844aa5]
//
// No text can pass for another label, as with a Speaker. A file's text is left as it is, since each of its lines may
// matter: its end is told by a digest of the text, which no text can contain.
type Quotation struct {
	What string `json:"quoted"`         // what it is, in the words of the platform
	File string `json:"file,omitempty"` // of a file: its name
	Name string `json:"name,omitempty"` // of its author
	ID   string `json:"id,omitempty"`   // of its author: "slack:U2"; "" where the platform does not say who it is
	At   string `json:"at,omitempty"`   // when it was written, see QuotedAt
	End  string `json:"end,omitempty"`  // of a file: see above
	Text string `json:"-"`
}

// QuotedFile is the What of a file's text.
const QuotedFile = "file"

// What stands between a label and its text.
const (
	wrote    = " wrote:"
	contains = " contains:"
	endsFile = "[end of file "
	quoteEnd = "\n\n" // between two quotations of a block
)

// QuotedAt is a Quotation's At; "" for a zero time.
func QuotedAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Quote makes one text block of quotations. A file must be one of its own.
func Quote(all ...Quotation) Block {
	texts := make([]string, len(all))
	for i, q := range all {
		texts[i] = q.shown()
	}
	return Block{Type: TextBlock, Text: strings.Join(texts, quoteEnd)}
}

// shown is the quotation as the model is shown it.
func (q Quotation) shown() string {
	if q.What != QuotedFile {
		return q.label() + wrote + "\n" + quoted(q.Text)
	}
	sum := sha256.Sum256([]byte(q.Text))
	q.End = hex.EncodeToString(sum[:8])
	return q.label() + contains + "\n" + q.Text + "\n" + endsFile + q.End + "]"
}

func (q Quotation) label() string { return onLine(q) }

// isQuoted reports whether a block is one that Quote made.
func isQuoted(b Block) bool {
	if b.Type != TextBlock || !strings.HasPrefix(b.Text, `{"quoted":`) {
		return false
	}
	head, _, _ := strings.Cut(b.Text, "\n")
	label, isText := strings.CutSuffix(head, wrote)
	if !isText {
		label = strings.TrimSuffix(head, contains)
	}
	var q Quotation
	return json.Unmarshal([]byte(label), &q) == nil && q.label() == label && isText == (q.What != QuotedFile)
}
