// Package schema reads the schemas of other people's tools, in whatever dialect of JSON Schema or OpenAPI they are
// written.
//
// A part that a reference leads to becomes a definition of its own: the place where it stands may be written otherwise
// in 2020-12. Each keyword is read by what it holds, and kept only if it is valid and can be checked. What is left out
// makes a schema allow more, except where a keyword says what may not be so, or how many of several schemas fit: in
// "not", "if", "oneOf", "contains" with a limit, and beside names and items that are not "additional" or "unevaluated".
// There more is left out with it, or oneOf becomes anyOf. Where a reference leads from there, what was left out
// anywhere counts.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/mask"
)

const (
	maxDepth     = 64        // levels of a schema
	maxRead      = 128 << 10 // bytes of what is read
	maxParts     = 20_000    // parts of a schema with those that references lead to
	maxUnchecked = 100       // parts that are left out and told

	maxClasses = 200 // of Unicode, in all patterns

	// the size of a pattern: a text of the longest kind that a larger one means would be too much to be matched
	maxPattern = 3000
)

var errNoObject = errors.New("its schema is not that of an object")

// Masker removes secrets from a text.
type Masker interface {
	Hide(text string) string
}

// Read makes of a server's schema, whatever its dialect, a valid one of 2020-12 for an object. Models and people see
// that one, and arguments are checked with it. Secrets are hidden in its texts, and what is invisible there is shown. A
// part that can't be checked is left out, and so is a value with a secret: the server alone checks it. Nothing that the
// server accepts is refused for that: what would be stricter without the part is left out with it. unchecked says where
// and what these parts are; masker removes secrets.
func Read(root any, masker Masker) (schema json.RawMessage, unchecked []string, err error) {
	if tooDeep(root, maxDepth) {
		return nil, nil, fmt.Errorf("its schema has more than %d levels", maxDepth)
	}
	switch v := root.(type) {
	case nil, map[string]any:
	case bool:
		if root = nil; !v {
			return nil, nil, errNoObject
		}
	default:
		if root = nil; !isEmpty(v) {
			return nil, nil, errNoObject
		}
	}
	whole, _ := root.(map[string]any)
	if types, known := typesOf(whole["type"]); known && len(types) > 0 && !slices.Contains(types, "object") {
		return nil, nil, errNoObject
	}
	r := newReading(whole, masker)
	view := r.whole(whole)
	if r.left > 0 && r.refs > 0 { // what is left out of a part is also left out where a reference leads there
		r = newReading(whole, masker)
		r.inexact = true
		view = r.whole(whole)
	}
	if schema, err = json.Marshal(view); err == nil && (r.parts > maxParts || len(schema) > maxRead) {
		err = errors.New("its schema is too large with its references followed")
	}
	return schema, r.unchecked, err
}

// tooDeep reports whether a value has more than so many levels.
func tooDeep(v any, most int) bool {
	if most < 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		for _, one := range v {
			if tooDeep(one, most-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return tooDeep(one, most-1) })
	}
	return false
}

// isEmpty reports whether a value says nothing: null, {}, or [], which some languages write for {}.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// spot is where a part of a schema stands.
type spot struct {
	base string // the address that its references are relative to
	name string // of the argument that it describes, for people
}

// below is the spot of what describes a part of the argument.
func (s spot) below(name string) spot {
	s.name = strings.TrimPrefix(s.name+name, ".")
	return s
}

// leave notes that a keyword is left out.
func (r *reading) leave(at spot, keyword string) {
	r.left++
	name := mask.EscapeLine(beginning(r.masker.Hide(at.name)))
	if name == "" {
		name = "the whole"
	}
	if one := name + " (" + keyword + ")"; len(r.unchecked) < maxUnchecked && !slices.Contains(r.unchecked, one) {
		r.unchecked = append(r.unchecked, one)
	}
}

// beginning is a name that people can read.
func beginning(name string) string {
	if r := []rune(name); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return name
}

// secret reports whether a value holds a secret.
func (r *reading) secret(v any) bool {
	switch v := v.(type) {
	case string:
		return r.masker.Hide(v) != v
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		return r.masker.Hide(text) != text
	case []any:
		return slices.ContainsFunc(v, r.secret)
	case map[string]any:
		for _, one := range v {
			if r.secret(one) {
				return true
			}
		}
	}
	return false
}
