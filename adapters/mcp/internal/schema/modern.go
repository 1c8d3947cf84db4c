package schema

import (
	"maps"
	"slices"
	"strings"
)

// modern puts what older drafts and OpenAPI say into the words of 2020-12. It changes nothing in what it is given.
func modern(part map[string]any) map[string]any {
	part = maps.Clone(part)
	if part == nil {
		part = map[string]any{}
	}
	for exclusive, limit := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if is, old := part[exclusive].(bool); old {
			if delete(part, exclusive); is && part[limit] != nil {
				part[exclusive] = part[limit]
				delete(part, limit)
			}
		}
	}
	if list, old := part["items"].([]any); old && len(list) > 0 && part["prefixItems"] == nil {
		part["prefixItems"], part["items"] = list, part["additionalItems"]
	}
	move(part, "divisibleBy", "multipleOf")
	if base, old := part["extends"]; old && part["allOf"] == nil {
		if _, list := base.([]any); !list {
			base = []any{base}
		}
		part["allOf"] = base
		delete(part, "extends")
	}
	needs(part)
	properties, _ := part["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		one, _ := properties[name].(map[string]any)
		list, listed := part["required"].([]any)
		if is, _ := one["required"].(bool); is && (listed || part["required"] == nil) {
			part["required"] = append(slices.Clone(list), name)
		}
	}
	return part
}

func move(part map[string]any, from, to string) {
	if v, old := part[from]; old && part[to] == nil {
		part[to] = v
		delete(part, from)
	}
}

// needs splits dependencies into those on other names, and those of a schema.
func needs(part map[string]any) {
	old, _ := part["dependencies"].(map[string]any)
	names, schemas := map[string]any{}, map[string]any{}
	for name, v := range old {
		switch v := v.(type) {
		case string:
			names[name] = []any{v}
		case []any:
			names[name] = v
		default:
			schemas[name] = v
		}
	}
	if len(names) > 0 && part["dependentRequired"] == nil {
		part["dependentRequired"] = names
	}
	if len(schemas) > 0 && part["dependentSchemas"] == nil {
		part["dependentSchemas"] = schemas
	}
}

// orNull lets a part be null, too, if OpenAPI's nullable says so.
func orNull(part, view map[string]any) map[string]any {
	if part["nullable"] != true && part["x-nullable"] != true {
		return view
	}
	if values, limited := view["enum"].([]any); limited && !slices.Contains(values, nil) {
		view["enum"] = append(values, nil)
	}
	switch types := view["type"].(type) {
	case string:
		if types != "null" {
			view["type"] = []string{types, "null"}
		}
		return view
	case []string:
		if !slices.Contains(types, "null") {
			view["type"] = append(types, "null")
		}
		return view
	}
	for _, key := range []string{"$ref", "allOf", "anyOf", "oneOf", "const"} {
		if _, limited := view[key]; limited {
			return map[string]any{"anyOf": []any{view, map[string]any{"type": "null"}}}
		}
	}
	return view
}

// otherTypes are names that types have elsewhere. Any value has one of "".
var otherTypes = func() map[string]string {
	all := map[string]string{}
	for name, others := range map[string]string{
		"integer": "integer int int32 int64 uint uint32 uint64 long short byte",
		"number":  "number float float32 float64 double decimal numeric",
		"string":  "string str text char varchar uuid email url uri date time datetime date-time timestamp password",
		"boolean": "boolean bool",
		"array":   "array list tuple set",
		"object":  "object dict map struct record",
		"null":    "null none nil undefined",
		"":        "any mixed unknown all *",
	} {
		for _, other := range strings.Fields(others) {
			all[other] = name
		}
	}
	return all
}()

// typesOf gives the types that a schema says, by the names of JSON Schema; none if any type will do, or if a name is
// not known.
func typesOf(v any) (types []string, known bool) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	any := v == nil
	for _, one := range list {
		name, isText := one.(string)
		if one == nil && isList {
			name, isText = "null", true
		}
		is, ok := otherTypes[strings.ToLower(strings.TrimSpace(name))]
		switch {
		case v == nil:
		case !ok || !isText:
			return nil, false
		case is == "":
			any = true
		case !slices.Contains(types, is):
			types = append(types, is)
		}
	}
	if any {
		types = nil
	}
	return types, true
}
