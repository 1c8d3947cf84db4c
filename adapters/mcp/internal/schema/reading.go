package schema

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reading reads the parts of one schema.
type reading struct {
	masker  Masker
	places  places
	old     bool // its dialect is one in which nothing counts beside a reference
	inexact bool // what a reference leads to counts as if something were left out of it

	defs    map[string]any // what references lead to, by the names that the result has for them
	names   map[string]string
	waiting []place

	unchecked []string
	left      int // how many parts were left out
	refs      int // how many references were read
	parts     int
	patterns  int // the size of the patterns
	classes   int // how often these name a class of Unicode
}

func newReading(root map[string]any, masker Masker) *reading {
	dialect, _ := root["$schema"].(string)
	r := &reading{
		masker: masker, places: places{resources: map[string]place{}, anchors: map[string]place{}},
		defs:  map[string]any{},
		names: map[string]string{},
	}
	r.old = slices.ContainsFunc([]string{"draft-03", "draft-04", "draft-06", "draft-07"}, func(name string) bool {
		return strings.Contains(dialect, name)
	})
	r.places.add(place{node: root})
	return r
}

// whole reads the whole schema.
func (r *reading) whole(root map[string]any) map[string]any {
	view := r.object(root, spot{base: baseOf(root, "")})
	for len(r.waiting) > 0 {
		next := r.waiting[0]
		r.waiting = r.waiting[1:]
		name := r.names[next.pointer()]
		r.defs[name] = r.part(next.node, spot{base: next.base, name: name})
	}
	if len(r.defs) > 0 {
		view["$defs"] = r.defs
	}
	if root["$schema"] == modernDialect {
		view["$schema"] = modernDialect
	}
	view["type"] = "object"
	return view
}

// part reads a part of the schema.
func (r *reading) part(v any, at spot) any {
	if b, ok := v.(bool); ok {
		return b
	}
	part, ok := v.(map[string]any)
	if !ok && !isEmpty(v) {
		r.leave(at, "schema")
	}
	at.base = baseOf(part, at.base)
	return orNull(part, r.object(part, at))
}

// exactly reads a part, and reports whether it is checked in full.
func (r *reading) exactly(v any, at spot) (part any, exact bool) {
	left, refs := r.left, r.refs
	part = r.part(v, at)
	return part, r.left == left && (r.refs == refs || !r.inexact)
}

// object reads the keywords of a part.
func (r *reading) object(part map[string]any, at spot) map[string]any {
	view := make(map[string]any, len(part))
	if r.parts++; r.parts > maxParts {
		return view
	}
	left, refs := r.left, r.refs
	part = modern(part)
	for _, key := range slices.Sorted(maps.Keys(part)) {
		if _, refers := part["$ref"].(string); refers && r.old && kinds[key] != aText && key != "$ref" {
			continue
		}
		r.keyword(view, key, part[key], at)
	}
	r.loosen(view, part, at, r.left > left || r.refs > refs && r.inexact)
	return view
}

// loosen removes what is stricter than the schema because something beside it was left out. inexact: something was left
// out of the part.
func (r *reading) loosen(view, part map[string]any, at spot, inexact bool) {
	remove := func(keys ...string) {
		for _, key := range keys {
			if _, has := view[key]; has {
				delete(view, key)
				r.leave(at, key)
			}
		}
	}
	patterns, _ := part["patternProperties"].(map[string]any)
	kept, _ := view["patternProperties"].(map[string]any)
	if !isEmpty(part["properties"]) && view["properties"] == nil || len(kept) < len(patterns) {
		remove("additionalProperties")
	}
	if !isEmpty(part["prefixItems"]) && view["prefixItems"] == nil {
		remove("items")
	}
	if _, conditional := view["if"]; !conditional && part["if"] != nil {
		remove("then", "else")
	}
	if inexact {
		remove("unevaluatedProperties", "unevaluatedItems", "maxContains")
	}
}

// plain finds what the name of a definition does not have.
var plain = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// refer gives the reference of the result for one of the schema; "" if it leads nowhere.
func (r *reading) refer(ref string, at spot) string {
	r.refs++
	target, ok := r.places.find(ref, at.base)
	if !ok || r.places.circular(target) {
		return ""
	}
	key := target.pointer()
	if key == "" {
		return "#"
	}
	name, known := r.names[key]
	if !known {
		name = plain.ReplaceAllString(target.tokens[len(target.tokens)-1], "_")
		for _, taken := r.defs[name]; taken; _, taken = r.defs[name] {
			name += "_" + strconv.Itoa(len(r.defs))
		}
		r.names[key], r.defs[name] = name, nil
		r.waiting = append(r.waiting, target)
	}
	return "#/$defs/" + name
}
