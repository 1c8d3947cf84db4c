package llm

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// isList reports whether a part is for lists.
func isList(part object) bool {
	return part["type"] == "array" || slices.Contains(texts(part["type"]), "array")
}

// modern puts a part of an older draft into the words of 2020-12, and says what is in a list.
func modern(part object) {
	if tuple, ok := part["items"].([]any); ok {
		part["prefixItems"], part["items"] = tuple, object{}
		if rest, ok := part["additionalItems"].(object); ok {
			part["items"] = rest
		}
		delete(part, "additionalItems")
	}
	if _, said := part["items"]; !said && isList(part) {
		part["items"] = object{}
	}
	for exclusive, limit := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if on, ok := part[exclusive].(bool); ok {
			if delete(part, exclusive); on && part[limit] != nil {
				part[exclusive] = part[limit]
				delete(part, limit)
			}
		}
	}
}

// Where a schema has parts that are schemas.
var (
	single = strings.Fields("items additionalItems contains unevaluatedItems additionalProperties " +
		"unevaluatedProperties propertyNames not if then else contentSchema")
	listed = strings.Fields("allOf anyOf oneOf prefixItems items")
	named  = strings.Fields("properties patternProperties $defs definitions dependentSchemas dependencies")
)

// eachPart calls do with a schema and then with each schema in it.
func eachPart(v any, do func(object)) {
	part, ok := v.(object)
	if !ok {
		return
	}
	do(part)
	for _, key := range single {
		eachPart(part[key], do)
	}
	for _, key := range listed {
		list, _ := part[key].([]any)
		for _, item := range list {
			eachPart(item, do)
		}
	}
	for _, key := range named {
		parts, _ := part[key].(object)
		for _, item := range parts {
			eachPart(item, do)
		}
	}
}

// partAt gives the part of a schema that a reference names; nil: there is none.
func partAt(root any, ref string) any {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || !strings.HasPrefix(ref, "#") || pointer != "" && pointer[0] != '/' {
		return nil
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		switch at := root.(type) {
		case object:
			root = at[unescape.Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			root = at[i]
		default:
			return nil
		}
	}
	return root
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
