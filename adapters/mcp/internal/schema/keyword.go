package schema

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// kind is what a keyword holds.
type kind int

const (
	aValue kind = iota // of a keyword that means nothing here
	aText
	aWord
	aFlag
	aNumber
	aCount
	aSchema
	someSchemas
	namedSchemas
	special // see other
	apart   // it is read elsewhere, or says nothing to models
)

var kinds = func() map[string]kind {
	all := map[string]kind{}
	for k, words := range map[kind]string{
		aText:   "description title $comment",
		aWord:   "format contentEncoding contentMediaType",
		aFlag:   "readOnly writeOnly deprecated uniqueItems",
		aNumber: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
		aCount:  "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains",
		aSchema: "items contains additionalProperties unevaluatedProperties unevaluatedItems propertyNames " +
			"contentSchema not if then else additionalItems",
		someSchemas:  "allOf anyOf oneOf prefixItems",
		namedSchemas: "properties patternProperties dependentSchemas $defs definitions dependencies",
		special:      "$ref $dynamicRef $recursiveRef type required dependentRequired pattern",
		apart: "$schema $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary nullable x-nullable " +
			"components",
	} {
		for _, word := range strings.Fields(words) {
			all[word] = k
		}
	}
	return all
}()

const modernDialect = "https://json-schema.org/draft/2020-12/schema"

// keyword reads one keyword of a part into view.
func (r *reading) keyword(view map[string]any, key string, v any, at spot) {
	k, keep := kinds[key], true
	switch {
	case key == "const" || key == "default" || key == "examples":
		_, list := v.([]any)
		if secret := r.secret(v); secret && key == "const" {
			keep = false
		} else if !secret && (list || key != "examples") {
			view[key] = v
		}
	case v == nil, k == apart, key == "$defs", key == "definitions", key == "dependencies", key == "additionalItems":
	case key == "enum":
		list, _ := v.([]any)
		if keep = len(list) > 0 && !r.secret(v); keep {
			view[key] = distinct(list)
		}
	case isEmpty(v) && (k == someSchemas || k == namedSchemas || k == special):
		if _, object := v.(map[string]any); object && k == namedSchemas || !object && key == "required" {
			view[key] = v
		}
	case k == aSchema:
		keep = r.one(view, key, v, at)
	case k == someSchemas:
		keep = r.some(view, key, v, at)
	case k == namedSchemas:
		keep = r.named(view, key, v, at)
	default:
		keep = r.value(view, key, v, at)
	}
	if !keep {
		r.leave(at, key)
	}
}

// value reads a keyword that holds no schemas. keep is false if it is to be left out.
func (r *reading) value(view map[string]any, key string, v any, at spot) (keep bool) {
	text, isText := v.(string)
	n, isNumber := v.(float64)
	_, isFlag := v.(bool)
	switch k := kinds[key]; {
	case k == special:
		return r.other(view, key, v, at)
	case k == aText && isText:
		view[key] = mask.Escape(r.masker.Hide(text))
	case k == aText || k == aWord && !isText || k == aFlag && !isFlag && key != "uniqueItems" ||
		k == aValue && r.secret(v):
	case k == aFlag && !isFlag, k == aNumber && !isNumber, k == aCount && !isNumber, r.secret(v) && !isText,
		key == "multipleOf" && n <= 0, k == aCount && (n < 0 || n > 1<<53 || n != math.Trunc(n)):
		return false
	default:
		view[key] = v
	}
	return true
}

// other reads a keyword that is like no other one.
func (r *reading) other(view map[string]any, key string, v any, at spot) (keep bool) {
	switch key {
	case "$ref", "$dynamicRef", "$recursiveRef":
		ref, ok := v.(string)
		if _, second := view["$ref"]; second || !ok {
			return false
		}
		if ref = r.refer(ref, at); ref != "" {
			view["$ref"] = ref
		}
		return ref != ""
	case "type":
		types, ok := typesOf(v)
		if len(types) == 1 {
			view[key] = types[0]
		} else if len(types) > 1 {
			view[key] = types
		}
		return ok
	case "required":
		if _, single := v.(bool); single { // of a property, in draft 3
			return true
		}
		names, ok := textsOf(v)
		if len(names) > 0 {
			view[key] = names
		}
		return ok
	case "dependentRequired":
		all, ok := v.(map[string]any)
		some := map[string]any{}
		for name, one := range all {
			names, good := textsOf(one)
			if ok = ok && good; len(names) > 0 {
				some[name] = names
			}
		}
		view[key] = some
		return ok
	case "pattern":
		text, ok := v.(string)
		if ok = ok && r.matches(text); ok {
			view[key] = text
		}
		return ok
	}
	return false
}

// delimited is a pattern as JavaScript has it in a program. Read as a pattern, it matches nothing.
var delimited = regexp.MustCompile(`^/\^.*/[a-z]*$|^/.*\$/[a-z]*$`)

// matches reports whether texts can be matched with a pattern. Reading one that is long, or full of classes of Unicode,
// takes time by itself.
func (r *reading) matches(text string) bool {
	r.classes += strings.Count(strings.ToLower(text), `\p`)
	if len(text) > 4*maxPattern || r.classes > maxClasses || delimited.MatchString(text) || r.secret(text) {
		return false
	}
	size, err := tool.PatternSize(text)
	if err != nil || size > maxPattern || r.patterns+size > tool.MaxPatterns {
		return false
	}
	r.patterns += size
	return true
}

// one reads a keyword that holds a schema.
func (r *reading) one(view map[string]any, key string, v any, at spot) (keep bool) {
	below := at
	switch key {
	case "items", "contains", "unevaluatedItems":
		below = at.below("[]")
	case "additionalProperties", "unevaluatedProperties":
		below = at.below(".*")
	}
	switch v.(type) {
	case map[string]any, bool, []any:
	default:
		return false
	}
	if _, list := v.([]any); list && !isEmpty(v) {
		return false
	}
	part, exact := r.exactly(v, below)
	if !exact && (key == "not" || key == "if") {
		return false
	}
	view[key] = part
	return true
}

// some reads a keyword that holds a list of schemas. Where one of them is not checked in full, more than one may seem
// to fit.
func (r *reading) some(view map[string]any, key string, v any, at spot) (keep bool) {
	list, ok := v.([]any)
	if !ok {
		return false
	}
	parts, all := make([]any, len(list)), true
	for i, one := range list {
		part, exact := r.exactly(one, at)
		if exact = exact && one != nil; one == nil {
			r.leave(at, key)
		}
		parts[i], all = part, all && exact
	}
	if key == "oneOf" && !all {
		if key = "anyOf"; view[key] != nil {
			return false
		}
	}
	view[key] = parts
	return true
}

// named reads a keyword that holds schemas by names.
func (r *reading) named(view map[string]any, key string, v any, at spot) (keep bool) {
	all, ok := v.(map[string]any)
	if !ok {
		return false
	}
	parts := make(map[string]any, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		below := at
		switch key {
		case "properties":
			below = at.below("." + name)
		case "patternProperties":
			if below = at.below(".*"); !r.matches(name) {
				r.leave(below, "name's pattern")
				continue
			}
		}
		parts[name] = r.part(all[name], below)
	}
	view[key] = parts
	return true
}

// textsOf gives the texts of a list, each once; ok is false if there is anything else.
func textsOf(v any) (texts []string, ok bool) {
	list, ok := v.([]any)
	for _, one := range list {
		text, is := one.(string)
		if ok = ok && is; is && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, ok || isEmpty(v)
}

// distinct gives the values of a list, each once.
func distinct(list []any) (values []any) {
	seen := map[string]bool{}
	for _, v := range list {
		text, _ := json.Marshal(v) // which came as JSON
		if !seen[string(text)] {
			seen[string(text)], values = true, append(values, v)
		}
	}
	return values
}
