package tool

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core/strictjson"
)

// Secret gives JSON pointers to the arguments that the schema says are secret (writeOnly, or the format password), in
// order: they are masked wherever people read the call. It reads the schema's own parts, also through $ref to one of
// them, and not other documents. Where a schema has several branches, an argument that is secret in one of them is
// secret. Keys may differ in case, as they may for Go's JSON decoder. Where schema and arguments are too large to find
// out, all arguments are secret.
func (t Tool) Secret(args json.RawMessage) []string {
	schema, err := strictjson.Parse(t.Schema, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return nil
	}
	v, err := strictjson.Parse(args, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return nil // mask.JSON hides all of it
	}
	f := secretFinder{
		root: schema, seen: map[visit]bool{}, found: map[string]bool{}, patterns: map[string]jsonschema.Regexp{},
		left: maxLooks,
	}
	f.look(schema, v, nil)
	if f.left < 0 {
		return []string{""}
	}
	return slices.Sorted(maps.Keys(f.found))
}

// secretFinder finds what a schema says is secret in one value.
type secretFinder struct {
	root  *strictjson.Value
	seen  map[visit]bool
	found map[string]bool // the pointers

	patterns map[string]jsonschema.Regexp // compiled; nil: it can't be
	left     int                          // how many looks may still be taken
}

// maxLooks is how many parts of a schema are looked at for one value each.
const maxLooks = 100_000

// visit is a part of the schema that was applied to a value. Schemas may refer to themselves.
type visit struct {
	schema  *strictjson.Value
	pointer string
}

// look applies a schema to a value at a path.
func (f *secretFinder) look(schema, v *strictjson.Value, path []string) {
	if schema == nil || schema.Kind != strictjson.Object {
		return
	}
	if f.left--; f.left < 0 {
		return
	}
	at := visit{schema, strictjson.Pointer(path...)}
	if f.seen[at] {
		return
	}
	f.seen[at] = true
	if isSecret(schema) {
		f.found[at.pointer] = true
		return
	}
	for _, same := range f.sameValue(schema) {
		f.look(same, v, path)
	}
	switch v.Kind {
	case strictjson.Object:
		for _, m := range v.Members {
			for _, s := range f.ofMember(schema, m.Key) {
				f.look(s, m.Value, append(slices.Clone(path), m.Key))
			}
		}
	case strictjson.Array:
		for i, item := range v.Items {
			for _, s := range ofItem(schema, i) {
				f.look(s, item, append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
}

func isSecret(schema *strictjson.Value) bool {
	writeOnly, format := schema.Get("writeOnly"), schema.Get("format")
	return writeOnly != nil && writeOnly.Bool || format != nil && strings.EqualFold(format.String, "password")
}

// sameValue gives the other schemas that apply to the same value.
func (f *secretFinder) sameValue(schema *strictjson.Value) (all []*strictjson.Value) {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if list := schema.Get(key); list != nil {
			all = append(all, list.Items...)
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		all = append(all, schema.Get(key))
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		if branches := schema.Get(key); branches != nil {
			for _, m := range branches.Members {
				all = append(all, m.Value)
			}
		}
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref := schema.Get(key); ref != nil {
			all = append(all, f.resolve(ref.String))
		}
	}
	return all
}

// resolve gives the part of the schema that a reference names; nil if it is in another document or does not exist.
func (f *secretFinder) resolve(ref string) *strictjson.Value {
	pointer, ok := strings.CutPrefix(ref, "#")
	if pointer, err := url.PathUnescape(pointer); err == nil && ok {
		return f.root.At(pointer)
	}
	return nil
}

// ofMember gives the schemas of a member of an object.
func (f *secretFinder) ofMember(schema *strictjson.Value, key string) (all []*strictjson.Value) {
	if properties := schema.Get("properties"); properties != nil {
		f.left -= len(properties.Members) / 16
		for _, p := range properties.Members {
			if strings.EqualFold(p.Key, key) {
				all = append(all, p.Value)
			}
		}
	}
	if patterns := schema.Get("patternProperties"); patterns != nil {
		for _, p := range patterns.Members {
			if f.matches(p.Key, key) {
				all = append(all, p.Value)
			}
		}
	}
	if len(all) == 0 {
		all = append(all, schema.Get("additionalProperties"), schema.Get("unevaluatedProperties"))
	}
	return all
}

// matches reports whether a pattern fits a key. One that can't be compiled fits all.
func (f *secretFinder) matches(text, key string) bool {
	p, known := f.patterns[text]
	if !known {
		p, _ = compilePattern(text) // nil with an error
		f.patterns[text] = p
	}
	f.left -= 1 + ofMatch(p, key)
	return f.left < 0 || p == nil || p.MatchString(key)
}

// ofItem gives the schemas of an item of an array.
func ofItem(schema *strictjson.Value, i int) (all []*strictjson.Value) {
	for _, key := range []string{"prefixItems", "items"} { // a list in items is the older way to write prefixItems
		if list := schema.Get(key); list != nil && i < len(list.Items) {
			all = append(all, list.Items[i])
		}
	}
	if len(all) == 0 {
		all = append(all, schema.Get("items"), schema.Get("additionalItems"), schema.Get("unevaluatedItems"))
	}
	return append(all, schema.Get("contains"))
}
