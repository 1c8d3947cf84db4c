package chat

import (
	"cmp"
	"fmt"
	"strings"

	"gatehouse/core"
)

// Replies are the texts of a turn that failed, one for each bucket (harness-chat §10). They may be reworded; their
// meaning must stay. In Correctable, "{diagnostic}" is replaced by what is wrong with the request.
type Replies struct {
	Terminating string
	Transient   string
	Correctable string
}

// DefaultReplies are the texts of harness-chat §10.
var DefaultReplies = Replies{
	Terminating: "This conversation can't continue. Please start a new one.",
	Transient:   "I had trouble responding. Try again in a moment.",
	Correctable: "That request couldn't be processed: " + diagnosticMark +
		". Please adjust your message and try again.",
}

const diagnosticMark = "{diagnostic}"

func (r Replies) orDefaults() Replies {
	return Replies{
		Terminating: cmp.Or(r.Terminating, DefaultReplies.Terminating),
		Transient:   cmp.Or(r.Transient, DefaultReplies.Transient),
		Correctable: cmp.Or(r.Correctable, DefaultReplies.Correctable),
	}
}

func (r Replies) validate() error {
	if !strings.Contains(r.Correctable, diagnosticMark) {
		return core.Errorf(core.Invalid, "the reply to a user-correctable error must contain %s", diagnosticMark)
	}
	return nil
}

// Sentence is what people read of an error: its sentence, or the text of its bucket. Without Options.Sentences only a
// correctable error shows more than that, the message of the error itself (harness-chat §10.3).
func (h *Harness) Sentence(err error) string {
	category, text := core.CategoryOf(err), ""
	if h.opt.Sentences != nil {
		text = h.opt.Sentences.Of(err)
	}
	switch core.BucketOf(category) {
	case core.SessionTerminating:
		return cmp.Or(text, h.opt.Replies.Terminating)
	case core.UserCorrectable:
		if h.opt.Sentences == nil {
			text = core.MessageOf(err)
		}
		return cmp.Or(text, fmt.Sprintf("it was refused (%s)", category))
	}
	return cmp.Or(text, h.opt.Replies.Transient)
}

// Errored is the outcome of an error. Where a change of the message would not help, the built-in text does not ask for
// one. Its reply has the role system and is no part of the history.
func (h *Harness) Errored(err error) core.Errored {
	c := core.CategoryOf(err)
	b, text := core.BucketOf(c), h.Sentence(err)
	alone := h.opt.Sentences != nil && core.ForOperators(err) && h.opt.Replies.Correctable == DefaultReplies.Correctable
	if b == core.UserCorrectable && !alone {
		text = strings.ReplaceAll(h.opt.Replies.Correctable, diagnosticMark, strings.TrimRight(text, ". "))
	}
	return core.Errored{
		Bucket: b, Category: c, Err: err, Reply: core.Message{Role: core.System, Content: core.Text(text)},
	}
}
