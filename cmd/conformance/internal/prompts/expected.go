package prompts

import (
	"errors"
	"fmt"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm/prompt"
)

// expectedOfCall checks what stands below a call.
func (s *scope) expectedOfCall(o *outcome, d *fixture.Node) {
	d.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "prompt":
			s.must(v, o.prompt != nil, "the call returned no prompt: %v", o.err)
			s.returned(o, v)
		case "prompt_result":
			s.must(v, o.result != nil, "the call returned no result: %v", o.err)
			s.returned(o, v)
		case "raises":
			s.raises(o, v)
		case "backend_call_counts":
			s.callCounts(o.asked, v)
		default:
			return false
		}
		return true
	})
}

// expected checks what stands at the end of a case: captured outcomes by their names, and comparisons of them.
func (s *scope) expected(d *fixture.Node) {
	d.Each(func(key string, v *fixture.Node) bool {
		if o := s.captured[key]; o != nil {
			s.returned(o, v)
			return true
		}
		switch {
		case key == "prompt" || key == "prompt_result" || key == "raises": // without a capture: of the last call
			last := s.outcomes[len(s.outcomes)-1]
			if key == "raises" {
				s.raises(last, v)
			} else {
				s.must(v, (last.prompt != nil) == (key == "prompt"), "the last call returned none: %v", last.err)
				s.returned(last, v)
			}
		case key == "result_equivalence":
			s.equivalence(v)
		case key == "backend_call_counts":
			s.callCounts(s.counts(), v)
		case strings.HasSuffix(key, "_equal"):
			return s.pairs(v, strings.TrimSuffix(key, "_equal"), true)
		case strings.HasSuffix(key, "_different"):
			return s.pairs(v, strings.TrimSuffix(key, "_different"), false)
		default:
			return false
		}
		return true
	})
}

// unexpected adds a fault for every call that failed although nothing expects it.
func (s *scope) unexpected() {
	for _, o := range s.outcomes {
		if o.err != nil && !o.expected {
			s.Fault(o.node, "the call failed: %v", o.err)
		}
	}
}

// returned compares what a call returned: the named fields, or, under raises, its error.
func (s *scope) returned(o *outcome, v *fixture.Node) {
	if o.fields() == nil && !v.Has("raises") {
		v.Value()
		s.Fault(v, "the call failed: %v", o.err)
		o.expected = true // it is reported
		return
	}
	v.Each(func(key string, d *fixture.Node) bool {
		if key == "raises" {
			s.raises(o, d)
			return true
		}
		return s.field(o.fields(), key, d)
	})
}

// raises checks that a call failed, the category of its error, and what the error carries.
func (s *scope) raises(o *outcome, v *fixture.Node) {
	o.expected = true
	if o.err == nil {
		v.Value()
		s.Fault(v, "the call did not fail")
		return
	}
	have := carried(o.err)
	v.Each(func(key string, d *fixture.Node) bool {
		switch key {
		case "category":
			s.must(d, d.Text() == string(core.CategoryOf(o.err)), "it is %q, not %q (%v)", core.CategoryOf(o.err),
				d.Text(), o.err)
		case "carries":
			d.Each(func(key string, c *fixture.Node) bool { return s.carries(have, key, c) })
		default:
			return false
		}
		return true
	})
}

// carried gives what an error carries, by the names of prompt-management §11. What it has not is nil.
func carried(err error) map[string]any {
	out := map[string]any{
		"name": nil, "version": nil, "label": nil, "variables": nil, "description": nil, "message": err.Error(),
		"cause": nil,
	}
	var e *prompt.Error
	if !errors.As(err, &e) {
		return out
	}
	for key, text := range map[string]string{
		"name": e.Name, "version": e.Version, "label": e.Label, "description": e.Description,
	} {
		if text != "" {
			out[key] = text
		}
	}
	if e.Variables != nil {
		out["variables"] = e.Variables
	}
	var inner *core.Error
	if errors.As(err, &inner) && inner.Err != nil {
		out["cause"] = inner.Err.Error()
	}
	return out
}

func (s *scope) carries(have map[string]any, key string, v *fixture.Node) bool {
	name, mentions := strings.CutSuffix(key, "_mentions")
	if !mentions {
		return s.field(have, key, v)
	}
	got, known := have[name]
	if !known {
		return false
	}
	texts, isList := v.Value().([]any)
	if !isList {
		texts = []any{v.Text()}
	}
	for _, text := range texts {
		s.must(v, strings.Contains(fmt.Sprint(got), fmt.Sprint(text)), "%s is %q and does not mention %q", name, got,
			text)
	}
	return true
}

// callCounts compares how often backends were called; those that are not named are not compared.
func (s *scope) callCounts(have map[string]int, v *fixture.Node) {
	v.All(func(name string, d *fixture.Node) {
		if s.backends[name] == nil {
			d.Malformed("there is no backend %q", name)
		}
		s.must(d, fixture.Equal(d.Value(), have[name]), "it was called %d times", have[name])
	})
}

// equivalence compares fields of outcomes with those of the first one.
func (s *scope) equivalence(v *fixture.Node) {
	names := v.Need("of").Texts()
	if len(names) < 2 {
		v.Malformed("it takes two names or more")
	}
	var all []map[string]any
	for _, name := range names {
		all = append(all, s.fieldsOf(v, name))
	}
	for _, d := range v.Need("fields_must_match").Items() {
		first, known := all[0][d.Text()]
		if !known {
			d.Malformed("there is no field %q", d.Text())
		}
		for i, other := range all[1:] {
			diff := fixture.DiffValues(first, other[d.Text()])
			s.must(d, diff == "", "%s of %s and %s differ: %s", d.Text(), names[0], names[i+1], diff)
		}
	}
	for _, d := range v.Get("fields_may_differ").Items() {
		if _, known := all[0][d.Text()]; !known {
			d.Malformed("there is no field %q", d.Text())
		}
	}
}

// pairs compares a field of the outcomes of each list; false if there is no such field.
func (s *scope) pairs(v *fixture.Node, field string, equal bool) bool {
	for _, list := range v.Items() {
		names := list.Texts()
		if len(names) < 2 {
			list.Malformed("it takes two names or more")
		}
		for i, a := range names {
			for _, b := range names[i+1:] {
				first, known := s.fieldsOf(list, a)[field]
				second, also := s.fieldsOf(list, b)[field]
				if !known || !also {
					return false
				}
				s.must(list, fixture.Equal(first, second) == equal, "%s of %s is %s, of %s it is %s", field, a,
					fixture.Show(first), b, fixture.Show(second))
			}
		}
	}
	return true
}

// fieldsOf gives the fields of a captured outcome.
func (s *scope) fieldsOf(d *fixture.Node, name string) map[string]any {
	o := s.captured[name]
	if o == nil {
		d.Malformed("nothing was captured as %q", name)
	}
	if o.err != nil {
		d.Malformed("the call %q failed: %v", name, o.err)
	}
	return o.fields()
}
