package prompts

import (
	"encoding/json"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm/prompt"
)

// outcome is what a call returned: a prompt, a result or an error.
type outcome struct {
	node   *fixture.Node
	prompt *prompt.Prompt
	result *prompt.Result
	err    error

	expected bool           // that it failed
	asked    map[string]int // how often it called each backend
}

// calls makes the calls of a list, and checks what each of them expects.
func (s *scope) calls(list *fixture.Node) {
	for _, d := range list.Items() {
		before := s.counts()
		o := s.call(d)
		o.node, o.asked = d, map[string]int{}
		for name, n := range s.counts() {
			o.asked[name] = n - before[name]
		}
		s.outcomes = append(s.outcomes, o)
		if name := d.Get("capture_as").Text(); name != "" {
			if s.captured[name] != nil {
				d.Malformed("%q was captured before", name)
			}
			s.captured[name] = o
		}
		s.expectedOfCall(o, d.Get("expected"))
	}
}

// counts is how often each backend has been called.
func (s *scope) counts() map[string]int {
	out := map[string]int{}
	for name, b := range s.backends {
		out[name] = b.calls
	}
	return out
}

// call makes one call.
func (s *scope) call(d *fixture.Node) *outcome {
	target, operation := d.Need("target"), d.Need("operation")
	var from prompt.Backend
	var m *prompt.Manager
	if target.IsMapping() {
		from = s.backend(target.Need("backend"))
	} else if m = s.managers[target.Text()]; m == nil {
		target.Malformed("there is no manager %q", target.Text())
	}
	if from != nil && operation.Text() != "fetch" {
		operation.Malformed("a backend can only fetch")
	}
	switch operation.Text() {
	case "fetch":
		if from == nil {
			from = m
		}
		p, err := from.Fetch(s.ctx, d.Need("name").Text(), labelOf(d))
		return ended(&p, nil, err)
	case "render":
		p, err := s.toRender(m, d)
		if err != nil {
			return &outcome{err: err}
		}
		r, err := m.Render(p, input(d))
		return ended(nil, &r, err)
	case "get":
		r, err := m.Get(s.ctx, d.Need("name").Text(), labelOf(d), input(d))
		return ended(nil, &r, err)
	}
	operation.Malformed("unknown operation %q; use fetch, render or get", operation.Text())
	return nil
}

func ended(p *prompt.Prompt, r *prompt.Result, err error) *outcome {
	if err != nil {
		return &outcome{err: err}
	}
	return &outcome{prompt: p, result: r}
}

// labelOf is the label of a call; "" where none is given.
func labelOf(d *fixture.Node) string {
	if label := d.Get("label"); !label.IsNull() {
		return label.Text()
	}
	return ""
}

// toRender gives the prompt that a call renders: one that was captured, one that is fetched by its name and label, or
// one that is written out.
func (s *scope) toRender(m *prompt.Manager, d *fixture.Node) (prompt.Prompt, error) {
	if ref := d.Get("fetched_prompt_ref"); ref != nil {
		o := s.captured[ref.Text()]
		if o == nil || o.prompt == nil {
			ref.Malformed("no prompt was captured as %q", ref.Text())
		}
		return *o.prompt, nil
	}
	given := d.Need("fetched_prompt")
	if given.Has("template") || given.Has("chat_template") {
		return promptOf(given), nil
	}
	p, err := m.Fetch(s.ctx, given.Need("name").Text(), labelOf(given))
	if version := given.Get("version"); version != nil && err == nil && version.Text() != p.Version {
		s.Fault(version, "the version is %q", p.Version)
	}
	return p, err
}

// input reads what a prompt is rendered with.
func input(d *fixture.Node) prompt.Input {
	in := prompt.Input{Variables: d.Get("variables").Fields()}
	if placeholders := d.Get("placeholders"); !placeholders.IsNull() {
		in.Placeholders = map[string][]core.Message{}
		placeholders.All(func(name string, list *fixture.Node) {
			messages := []core.Message{}
			for _, item := range list.Items() {
				messages = append(messages, message(item))
			}
			in.Placeholders[name] = messages
		})
	}
	return in
}

// message reads a message, which may be invalid but must not lose anything.
func message(d *fixture.Node) core.Message {
	var m core.Message
	data, err := json.Marshal(withoutNulls(d.Value()))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err == nil {
		if lost := new(fixture.Matcher).Diff(d, view(m, d), true); lost != "" && m.Validate() == nil {
			d.Malformed("it has more than a message: %s", lost)
		}
		return m
	}
	d.Malformed("a message: %v", err)
	return m
}

// withoutNulls drops the keys of mappings whose value is null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if item != nil {
				out[key] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, withoutNulls(item))
		}
		return out
	}
	return v
}
