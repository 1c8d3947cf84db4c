package inbound

import (
	"slices"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Thread is what was said in a thread before the bot was asked there.
type Thread struct {
	Root *core.Quotation  // the message that began it; nil: it was read before, or it can't be read
	Said []core.Quotation // what came after it, the oldest first
	Left int              // how many messages between Root and Said are known to be there and were not read
	More bool             // there are others between them, nobody knows how many
	Note string           // what else was not read, and why; "": nothing
}

// What the messages of a thread are, as the model is told.
const (
	BeganThread = "message that began this thread"
	InThread    = "message in this thread"
	OwnMessage  = "your own " // in front of these, for one of the bot's
)

// Unread is the Note of a thread of which nothing could be read; why is a sentence. goesOn: the agent knows what came
// before its last turn there.
func Unread(goesOn bool, why string) string {
	if goesOn {
		return "What others wrote in this thread since you were last asked could not be read. " + why
	}
	return "The message below is in a thread, and what was said there before could not be read. " + why
}

// Quoted is the thread as the model is shown it: the root, and as many of the newest messages as fit into a budget of
// tokens, as they are estimated. nil: there is nothing to show.
func (t Thread) Quoted(tokens int) []core.Block {
	var all []core.Quotation
	left := 3 * tokens // bytes
	if t.Root != nil {
		root := *t.Root
		root.Text = safetext.Shortened(root.Text, left/2)
		all, left = append(all, root), left-sizeOf(root)
	}
	from := len(t.Said)
	for from > 0 && left-sizeOf(t.Said[from-1]) >= 0 {
		from--
		left -= sizeOf(t.Said[from])
	}
	said := slices.Clone(t.Said[from:])
	if len(said) == 0 && len(t.Said) > 0 { // one alone is too long
		last := t.Said[len(t.Said)-1]
		last.Text = safetext.Shortened(last.Text, max(left, minQuoted))
		said, from = append(said, last), from-1
	}
	if from += t.Left; from > 0 || t.More {
		count := safetext.Thousands(from)
		switch {
		case from == 0:
			count = "some"
		case t.More:
			count = "more than " + count
		}
		all = append(all, Note("Messages of this thread that are left out: "+count+"."))
	}
	if all = append(all, said...); t.Note != "" {
		all = append(all, Note(t.Note))
	}
	if len(all) == 0 {
		return nil
	}
	return []core.Block{core.Quote(all...)}
}

// minQuoted is how much of a message that is too long is quoted at least, in bytes.
const minQuoted = 300

// labelSize is about what a quotation's label adds, beside the names in it, in bytes.
const labelSize = 90

func sizeOf(q core.Quotation) int { return labelSize + len(q.Name) + len(q.Text) }

// Note is a sentence of gatehouse to the model, beside what it is shown of others.
func Note(text string) core.Quotation {
	return core.Quotation{What: "note", Name: "gatehouse", Text: text}
}
