package interp

import (
	"slices"
	"strings"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// check finds what would fail later, before anything has happened.
func (r *run) check() Effect {
	script := r.program.Envelope.Script
	if script == nil {
		return r.fail(Details{Pointer: "/messages"}, "the envelope holds no script: add a system message with contentType harmony-script")
	}
	var missing []string
	var first, deep hrf.Place
	look := func(recipient string, p hrf.Place) {
		if r.knows(recipient) || slices.Contains(missing, recipient) {
			return
		}
		if len(missing) == 0 {
			first = p
		}
		missing = append(missing, recipient)
	}
	each(script.Steps, 1, func(step hrf.Step, depth int) {
		if depth > r.limits.Depth+1 && deep == (hrf.Place{}) {
			deep = step.Where()
		}
		if call, ok := step.(*hrf.ToolCall); ok {
			look(call.Recipient, call.Place)
		}
	})
	if deep != (hrf.Place{}) {
		return r.exceeded("depth", r.limits.Depth, deep, "the step is inside more than %d ifs", r.limits.Depth)
	}
	for _, m := range r.program.Envelope.Messages {
		if marker(m) != hrf.Call {
			continue
		}
		if m.Recipient == "" {
			return r.fail(Details{Pointer: m.Pointer}, "the message with termination call has no recipient")
		}
		if _, ok := callArgs(m); !ok {
			return r.fail(Details{Pointer: m.Pointer, Recipient: m.Recipient}, "the json content of a message with termination call must be an object: the arguments")
		}
		look(m.Recipient, hrf.Place{Pointer: m.Pointer})
	}
	if missing != nil {
		d := at(first)
		d.Recipients = missing
		return r.fail(d, "no such tool: %s; nothing was run", strings.Join(missing, ", "))
	}
	return nil
}

func (r *run) knows(recipient string) bool {
	if r.program.Tool == nil {
		return false
	}
	_, known := r.program.Tool(recipient)
	return known
}

// each visits all steps, of both branches too, in the order of the text. depth is 1 at the top.
func each(steps []hrf.Step, depth int, visit func(step hrf.Step, depth int)) {
	for _, step := range steps {
		visit(step, depth)
		if branches, ok := step.(*hrf.If); ok {
			each(branches.Then, depth+1, visit)
			each(branches.Else, depth+1, visit)
		}
	}
}

// plainText gives the text of a message without contentType; ok is false if it is blank.
func plainText(m hrf.Message) (text string, ok bool) {
	if m.ContentType != "" || m.Content == nil || m.Content.Kind != strictjson.String {
		return "", false
	}
	return m.Content.String, strings.TrimSpace(m.Content.String) != ""
}
