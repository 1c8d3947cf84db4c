package llm

import (
	"encoding/json"
	"maps"
	"slices"

	"gatehouse/core/strictjson"
)

// PortableSchema gives the JSON Schema of a tool's arguments in a form that every vendor takes. A vendor refuses the
// whole request for the schema of one tool, and servers define tools as they like. It is for the model alone, which it
// may tell less or more than the schema says: arguments are to be checked against the schema itself.
//
// At the root there are no oneOf, anyOf, allOf, enum and not, and no reference: the arguments that they name become the
// root's own. One is required if every alternative requires it. The dialect is that of 2020-12, where older drafts have
// other words for tuples and limits. A list says what is in it. A reference that would lead nowhere says nothing.
//
// A schema that can't be read is given back as it is.
func PortableSchema(schema json.RawMessage) json.RawMessage {
	v, err := strictjson.Parse(schema)
	if err != nil || v.Kind != strictjson.Object {
		return schema
	}
	root := v.Any().(object)
	eachPart(root, modern)
	delete(root, "$schema")
	arguments := (&flattener{root: root, known: map[string]flat{}}).flatten(root)
	for _, key := range []string{"$ref", "oneOf", "anyOf", "allOf", "enum", "not"} {
		delete(root, key)
	}
	root["type"] = "object"
	if len(arguments.properties) > 0 {
		root["properties"] = arguments.properties
	}
	if delete(root, "required"); len(arguments.required) > 0 {
		root["required"] = slices.Sorted(maps.Keys(arguments.required))
	}
	eachPart(root, func(part object) {
		if ref, ok := part["$ref"].(string); ok && partAt(root, ref) == nil {
			delete(part, "$ref")
		}
	})
	data, err := json.Marshal(root)
	if err != nil {
		return schema
	}
	return data
}

// object is a part of a schema.
type object = map[string]any

// flat is what a schema says of the arguments.
type flat struct {
	properties object
	required   map[string]bool
}

// flattener gathers what the parts of a schema that hold for the same value say.
type flattener struct {
	root  object
	known map[string]flat // by reference; one that is being read is empty, so that a circle ends
}

// flatten gathers what a part says: its own words count before those of others.
func (f *flattener) flatten(part object) flat {
	all := flat{object{}, map[string]bool{}}
	own, _ := part["properties"].(object)
	maps.Copy(all.properties, own)
	for _, name := range texts(part["required"]) {
		all.required[name] = true
	}
	if ref, ok := part["$ref"].(string); ok {
		all.add(f.referred(ref))
	}
	for _, each := range objects(part["allOf"]) {
		all.add(f.flatten(each))
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		all.add(f.either(objects(part[key])))
	}
	return all
}

// add adds what another part says of arguments of which nothing is said yet, and what it requires.
func (all flat) add(other flat) {
	for name, property := range other.properties {
		if _, said := all.properties[name]; !said {
			all.properties[name] = property
		}
	}
	maps.Copy(all.required, other.required)
}

func (f *flattener) referred(ref string) flat {
	if known, ok := f.known[ref]; ok {
		return known
	}
	f.known[ref] = flat{}
	if target, ok := partAt(f.root, ref).(object); ok {
		f.known[ref] = f.flatten(target)
	}
	return f.known[ref]
}

// either gathers what alternatives say. An argument of which they say different things is one of these.
func (f *flattener) either(alternatives []object) flat {
	all := flat{properties: object{}}
	said, seen := map[string][]any{}, map[string]bool{}
	for i, alternative := range alternatives {
		one := f.flatten(alternative)
		for name, property := range one.properties {
			text, _ := json.Marshal([]any{name, property}) // from JSON: can't fail
			if !seen[string(text)] {
				seen[string(text)] = true
				said[name] = append(said[name], property)
			}
		}
		if i == 0 {
			all.required = maps.Clone(one.required)
		}
		maps.DeleteFunc(all.required, func(name string, _ bool) bool { return !one.required[name] })
	}
	for name, properties := range said {
		if all.properties[name] = properties[0]; len(properties) > 1 {
			all.properties[name] = object{"anyOf": properties}
		}
	}
	return all
}

// objects are the objects in a list; those of another type than object are no alternatives of arguments.
func objects(v any) (all []object) {
	list, _ := v.([]any)
	for _, item := range list {
		if part, ok := item.(object); ok && (part["type"] == nil || part["type"] == "object") {
			all = append(all, part)
		}
	}
	return all
}

// texts are the texts in a list.
func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}
