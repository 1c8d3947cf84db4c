package mcp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/mask"
)

const maxDepth = 64 // levels of a schema

// The keywords of a schema by what they hold. All others, such as default, enum and pattern, hold values.
var (
	texts       = []string{"description", "title", "$comment"}
	schemas     = []string{"items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema", "not", "if", "then", "else", "allOf", "anyOf", "oneOf"}
	schemaNames = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	words       = []string{"$schema", "$anchor", "type", "format", "required", "dependentRequired", "contentEncoding", "contentMediaType"}
)

// schemaView makes of a server's schema the one that models and people see, and that arguments are checked with: secrets are hidden in its
// texts, and what is invisible there is shown; a value with a secret is left out, so the server alone checks it.
type schemaView struct{ hide func(string) string }

// of gives the view of a schema, a list of schemas or a boolean. It refuses one that is too deep, and references but those to a part of the
// whole by its JSON pointer: other documents may not be fetched. References may form a circle.
func (s schemaView) of(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("its schema has more than %d levels", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		view := make(map[string]any, len(v))
		for key, value := range v {
			part, keep, err := s.keyword(key, value, depth)
			if err != nil {
				return nil, err
			}
			if keep {
				view[key] = part
			}
		}
		return view, nil
	case []any:
		view := make([]any, len(v))
		for i, item := range v {
			part, err := s.of(item, depth+1)
			if err != nil {
				return nil, err
			}
			view[i] = part
		}
		return view, nil
	}
	return v, nil
}

// keyword gives the view of a keyword's value, and whether it stays in the schema.
func (s schemaView) keyword(key string, v any, depth int) (view any, keep bool, err error) {
	text, isText := v.(string)
	switch {
	case isText && slices.Contains(texts, key):
		return mask.Escape(s.hide(text)), true, nil
	case key == "$dynamicRef" || key == "$recursiveRef" || isText && key == "$ref" && text != "#" && !strings.HasPrefix(text, "#/"):
		return nil, false, fmt.Errorf("its schema has the %s %s; only references to its own parts, such as #/$defs/NAME, are supported", key, cut(s.hide(fmt.Sprint(v)), 100))
	case isText && (key == "$id" || key == "id"):
		return nil, false, nil // so that references begin at the whole schema
	case slices.Contains(schemaNames, key):
		view, err = s.named(v, depth+1)
		return view, true, err
	case key != "$ref" && !slices.Contains(schemas, key) && !slices.Contains(words, key) && s.secret(v):
		return nil, false, nil
	}
	view, err = s.of(v, depth+1)
	return view, true, err
}

// named gives the view of schemas by their names.
func (s schemaView) named(v any, depth int) (any, error) {
	all, ok := v.(map[string]any)
	if !ok {
		return v, nil // which is not valid
	}
	view := make(map[string]any, len(all))
	for name, one := range all {
		part, err := s.of(one, depth+1)
		if err != nil {
			return nil, err
		}
		view[name] = part
	}
	return view, nil
}

// secret reports whether a value holds a secret.
func (s schemaView) secret(v any) bool {
	switch v := v.(type) {
	case string:
		return s.hide(v) != v
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		return s.hide(text) != text
	case []any:
		return slices.ContainsFunc(v, s.secret)
	case map[string]any:
		for _, one := range v {
			if s.secret(one) {
				return true
			}
		}
	}
	return false
}
