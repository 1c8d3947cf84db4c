package interp

import (
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// check finds what would fail later, before anything has happened.
func (r *run) check() Effect {
	script := r.program.Envelope.Script
	if script == nil {
		return r.fail(Details{Pointer: "/messages"},
			"the envelope has no script; add a system message with contentType harmony-script")
	}
	var sites []site
	var deep hrf.Step
	each(script.Steps, 0, func(step hrf.Step, depth int) {
		if depth > r.limits.Depth && deep == nil {
			deep = step
		}
		if tool, ok := step.(*hrf.ToolCall); ok {
			sites = append(sites, site{tool.Recipient, tool.Place})
		}
	})
	if deep != nil {
		return r.exceeded("depth", r.limits.Depth, deep.Where(), "the step is nested in more than %d ifs",
			r.limits.Depth)
	}
	for _, m := range r.program.Envelope.Messages {
		if marker(m) != hrf.Call {
			continue
		}
		if m.Recipient == "" {
			return r.fail(at(m.Place), "a message with termination call needs a recipient")
		}
		if _, ok := callArgs(m); !ok {
			d := at(m.Place)
			d.Recipient = m.Recipient
			return r.fail(d, "the json content of a message with termination call is its arguments: it must be an "+
				"object")
		}
		sites = append(sites, site{m.Recipient, m.Place})
	}
	return r.checkRecipients(sites)
}

// site is where a tool would be called.
type site struct {
	recipient string
	place     hrf.Place
}

// checkRecipients fails if tools do not exist; its place is the first call of one.
func (r *run) checkRecipients(sites []site) Effect {
	var d Details
	for _, s := range sites {
		if _, known := r.schema(s.recipient); known || slices.Contains(d.Recipients, s.recipient) {
			continue
		}
		if d.Recipients == nil {
			d = at(s.place)
		}
		d.Recipients = append(d.Recipients, s.recipient)
	}
	if d.Recipients == nil {
		return nil
	}
	return r.fail(d, "no such tool: %s", strings.Join(d.Recipients, ", "))
}

func (r *run) schema(recipient string) (schema json.RawMessage, known bool) {
	if r.program.Catalog == nil {
		return nil, false
	}
	return r.program.Catalog.Schema(recipient)
}

// each visits all steps, of both branches too, in the order of the text. depth is in how many ifs.
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
