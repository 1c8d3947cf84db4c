package mcp

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// schemaPart is one schema within a schema.
type schemaPart struct {
	same  []*schemaPart // those that check the same value
	below []below       // those that check the values in it

	all    []below // below, with that of all that check the same value
	counts []int   // by depth, what checks found
}

// kind is what a value below another is.
type kind int

const (
	member kind = iota
	item
	memberName
)

// place is one value below another: by the name of a member, or the index of an item.
type place struct {
	kind kind
	name string
}

// below is a schema for the value at a place, or for the others: all of that kind but the excepted names.
type below struct {
	place
	others bool
	except []string
	part   *schemaPart
}

// schemaParts are the parts of a schema, by their JSON pointers, as far as the whole leads to them. Those in $defs are reached by reference only;
// a property may well have that name.
type schemaParts struct {
	root  any
	known map[string]*schemaPart
	lost  bool // there is a reference to nothing
	work  int  // how many steps may still be taken
}

// at gives the part that a pointer names.
func (p *schemaParts) at(pointer string) *schemaPart {
	if one := p.known[pointer]; one != nil {
		return one
	}
	one := &schemaPart{}
	p.known[pointer] = one
	v, found := partOf(p.root, pointer)
	p.lost = p.lost || !found
	schema, _ := v.(map[string]any) // or a boolean
	if ref, ok := schema["$ref"].(string); ok {
		to, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
		p.lost = p.lost || err != nil
		one.same = append(one.same, p.at(to))
	}
	for _, key := range []string{"not", "if", "then", "else", "contentSchema", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"} {
		many := slices.Contains([]string{"dependentSchemas", "dependencies"}, key)
		for _, step := range steps(schema, key, many) {
			one.same = append(one.same, p.at(pointer+step))
		}
	}
	one.below = slices.Concat(
		p.named(pointer, schema, member, "properties"), p.named(pointer, schema, item, "prefixItems", "items"),
		p.others(pointer, schema, member, names(schema, "properties"), "additionalProperties", "unevaluatedProperties"),
		p.others(pointer, schema, member, nil, "patternProperties"), p.others(pointer, schema, memberName, nil, "propertyNames"),
		p.others(pointer, schema, item, names(schema, "prefixItems", "items"), "items", "additionalItems", "unevaluatedItems"),
		p.others(pointer, schema, item, nil, "contains"),
	)
	return one
}

// named gives the schemas that keys of a schema have for single members or items.
func (p *schemaParts) named(pointer string, schema map[string]any, k kind, keys ...string) (all []below) {
	for _, key := range keys {
		for _, name := range names(schema, key) {
			all = append(all, below{place: place{k, name}, part: p.at(pointer + strictjson.Pointer(key, name))})
		}
	}
	return all
}

// others gives the schemas that keys of a schema have for all members or items but those.
func (p *schemaParts) others(pointer string, schema map[string]any, k kind, except []string, keys ...string) (all []below) {
	for _, key := range keys {
		if _, list := schema[key].([]any); list {
			continue // each is for one item
		}
		for _, step := range steps(schema, key, key == "patternProperties") {
			all = append(all, below{place: place{kind: k}, others: true, except: except, part: p.at(pointer + step)})
		}
	}
	return all
}

// steps gives the pointers, from a schema, to the schemas that a key has: one, a list, or many by name.
func steps(schema map[string]any, key string, many bool) (all []string) {
	_, list := schema[key].([]any)
	if _, has := schema[key]; has && !list && !many {
		return []string{strictjson.Pointer(key)}
	}
	for _, name := range names(schema, key) {
		all = append(all, strictjson.Pointer(key, name))
	}
	return all
}

// names gives the names of members that keys have schemas for, or the indexes of items. A single schema in items has none.
func names(schema map[string]any, keys ...string) (all []string) {
	for _, key := range keys {
		switch v := schema[key].(type) {
		case map[string]any:
			if key != "items" && key != "prefixItems" {
				all = slices.AppendSeq(all, maps.Keys(v))
			}
		case []any:
			for i := range v {
				all = append(all, strconv.Itoa(i))
			}
		}
	}
	return all
}

// checkNames refuses what would make references lead elsewhere than to the part that their pointer names: parts with an address of their own,
// and references that depend on the way that led to them.
func checkNames(root map[string]any) error {
	id := "$id"
	if draft, _ := root["$schema"].(string); strings.Contains(draft, "draft-04") {
		id = "id"
	}
	var look func(v any, top bool) error
	look = func(v any, top bool) error {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				switch text, isText := value.(string); {
				case isText && key == "$schema" && !top && strings.Contains(text, "draft-04"):
					return errors.New("a part of its schema has an older draft, with another word for $id")
				case isText && key == id && !top:
					return errors.New("a part of its schema has an " + id)
				case isText && (key == "$dynamicRef" || key == "$recursiveRef"):
					return errors.New("its schema has a " + key)
				}
				if err := look(value, false); err != nil {
					return err
				}
			}
		case []any:
			for _, value := range v {
				if err := look(value, false); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return look(root, true)
}

// partOf gives the part of a schema that a JSON pointer names.
func partOf(root any, pointer string) (any, bool) {
	if pointer != "" && !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch at := root.(type) {
		case map[string]any:
			var ok bool
			if root, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			root = at[i]
		default:
			return nil, false
		}
	}
	return root, true
}
