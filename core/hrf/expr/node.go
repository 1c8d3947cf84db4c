package expr

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// node is a part of a compiled expression.
type node interface{ eval(s Scope) any }

type literal struct{ value any }

func (l literal) eval(Scope) any { return l.value }

// length is $len.
type length struct{ of node }

func (l length) eval(s Scope) any {
	n, _ := count(l.of.eval(s))
	return n
}

// count returns how many items or characters a value has. ok is false for what has neither.
func count(v any) (n json.Number, ok bool) {
	switch v := v.(type) {
	case []any:
		return json.Number(strconv.Itoa(len(v))), true
	case string:
		return json.Number(strconv.Itoa(utf8.RuneCountInString(v))), true
	}
	return "0", false
}

// members is $map.
type members struct {
	of   node
	name string
}

func (m members) eval(s Scope) any {
	list, _ := m.of.eval(s).([]any)
	values := []any{}
	for _, item := range list {
		object, _ := item.(map[string]any)
		if v, ok := object[m.name]; ok {
			values = append(values, v)
		}
	}
	return values
}

// reference is a path into the variables or the input. Its first segment is a name.
type reference struct {
	root string
	path []segment
}

type segment struct {
	name    string
	index   int
	isIndex bool
}

func (r *reference) eval(s Scope) any {
	v := s.Input[r.path[0].name]
	if r.root == "vars" {
		v = variable(s.Vars, r.path[0].name)
	}
	for _, step := range r.path[1:] {
		v = step.of(v)
	}
	return v
}

func variable(vars map[string]any, name string) any {
	if v, ok := vars[name]; ok {
		return v
	}
	first, value := "", any(nil) // of several names that differ in case alone, the first in order
	for known, v := range vars {
		if strings.EqualFold(known, name) && (first == "" || known < first) {
			first, value = known, v
		}
	}
	return value
}

func (step segment) of(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if !step.isIndex {
			return v[step.name]
		}
	case []any:
		if step.isIndex && step.index < len(v) {
			return v[step.index]
		}
	}
	if n, ok := count(v); ok && step.name == "length" {
		return n
	}
	return nil
}
