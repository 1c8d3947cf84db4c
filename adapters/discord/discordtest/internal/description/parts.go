package description

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Parts returns the parts of a whole description that some calls need: their operations, and the components that these
// refer to, without what only people read. A call is a method and a path, as in "GET /channels/{channel}".
func Parts(whole []byte, calls []string) ([]byte, error) {
	d, err := parse(whole)
	if err != nil {
		return nil, err
	}
	p := parts{from: d, paths: map[string]any{}, components: map[string]any{}}
	for _, call := range slices.Sorted(slices.Values(calls)) {
		method, path, _ := strings.Cut(call, " ")
		o, ok := d.Operation(method, path)
		if !ok {
			return nil, fmt.Errorf("%s is not described", call)
		}
		node := needed(o.node, false)
		place, _ := p.paths[o.where[1]].(map[string]any)
		if place == nil {
			place = map[string]any{}
			p.paths[o.where[1]] = place
		}
		place[o.where[2]] = node
		p.follow(node)
	}
	var text bytes.Buffer
	text.WriteString("{\"paths\":{\n")
	err = writeLines(&text, p.paths)
	for i, kind := range slices.Sorted(maps.Keys(p.components)) {
		text.WriteString([]string{"},\n\"components\":{\n", ",\n"}[min(i, 1)] + "\"" + kind + "\":{\n")
		if err == nil {
			err = writeLines(&text, p.components[kind].(map[string]any))
		}
		text.WriteString("}")
	}
	text.WriteString("}}\n")
	return text.Bytes(), err
}

// writeLines writes the members of an object, a line each.
func writeLines(to *bytes.Buffer, o map[string]any) error {
	for i, key := range slices.Sorted(maps.Keys(o)) {
		line, err := json.Marshal(o[key])
		if err != nil {
			return err
		}
		if i > 0 {
			to.WriteString(",\n")
		}
		fmt.Fprintf(to, "%q:%s", key, line)
	}
	to.WriteString("\n")
	return nil
}

type parts struct {
	from              *Description
	paths, components map[string]any
}

// follow adds the components to which a value refers.
func (p parts) follow(value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			p.follow(one)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			p.add(strings.Split(strings.TrimPrefix(ref, "#/"), "/"))
		}
		for _, one := range v {
			p.follow(one)
		}
	}
}

// add adds a component, such as components/schemas/UserResponse.
func (p parts) add(place []string) {
	kind, _ := p.components[place[1]].(map[string]any)
	if kind == nil {
		kind = map[string]any{}
		p.components[place[1]] = kind
	}
	if kind[place[2]] == nil {
		kind[place[2]] = needed(p.from.component(place), false)
		p.follow(kind[place[2]])
	}
}

// unneeded are the members of a description that no call is compared with.
var unneeded = []string{
	"description", "summary", "tags", "security", "operationId", "example", "examples", "headers", "title",
	"deprecated", "externalDocs", "application/x-www-form-urlencoded",
}

// needed returns a value without unneeded members. The members of an object of properties are all needed.
func needed(value any, properties bool) any {
	switch v := value.(type) {
	case []any:
		kept := make([]any, len(v))
		for i, one := range v {
			kept[i] = needed(one, false)
		}
		return kept
	case map[string]any:
		kept := map[string]any{}
		for key, one := range v {
			if properties || !slices.Contains(unneeded, key) && !strings.HasPrefix(key, "x-") {
				kept[key] = needed(one, !properties && key == "properties")
			}
		}
		return kept
	}
	return value
}
