package chat

import (
	"cmp"
	"fmt"
	"strings"

	"gatehouse/core"
)

// Replies are the texts of a turn that failed, one for each bucket (harness-chat §10). They may be reworded; their meaning
// must stay. In Correctable, "{diagnostic}" is replaced by what is wrong with the request.
type Replies struct {
	Terminating string
	Transient   string
	Correctable string
}

// DefaultReplies are the texts of harness-chat §10.
var DefaultReplies = Replies{
	Terminating: "This conversation can't continue. Please start a new one.",
	Transient:   "I had trouble responding. Try again in a moment.",
	Correctable: "That request couldn't be processed: " + diagnosticMark + ". Please adjust your message and try again.",
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

// text is the reply of a bucket. Only a correctable error shows its cause, and only the message that is written for people:
// upstream's own, if there is one.
func (r Replies) text(b core.Bucket, err error) string {
	switch b {
	case core.SessionTerminating:
		return r.Terminating
	case core.UserCorrectable:
		return strings.ReplaceAll(r.Correctable, diagnosticMark, strings.TrimRight(diagnostic(err), ". "))
	}
	return r.Transient
}

// diagnostic is what a person can act on.
func diagnostic(err error) string {
	if m := core.MessageOf(err); m != "" {
		return m
	}
	return fmt.Sprintf("it was refused (%s)", core.CategoryOf(err))
}

// Errored is the outcome of an error. Its reply has the role system and is no part of the history.
func (h *Harness) Errored(err error) core.Errored {
	c := core.CategoryOf(err)
	b := core.BucketOf(c)
	return core.Errored{
		Bucket: b, Category: c, Err: err,
		Reply: core.Message{Role: core.System, Content: core.Text(h.opt.Replies.text(b, err))},
	}
}
