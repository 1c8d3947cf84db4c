package tools

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictjson"
	"gatehouse/core/strictyaml"
	"gatehouse/core/tool"
)

// noArguments is the schema of a tool that declares no arguments.
const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// arguments reads the schema of a tool, and the summary's placeholders, which are required arguments.
func (l *loader) arguments(s *spec) {
	s.Schema = json.RawMessage(noArguments)
	if s.schema != nil && !l.schemaOf(s) {
		return
	}
	schema, err := strictjson.Parse(s.Schema)
	if err != nil {
		return // a fault of the schema
	}
	if s.http != nil {
		l.fixed(s, schema.Get("properties"))
	}
	if s.template == nil {
		return
	}
	names, ok := placeholders(s.template.Value)
	if !ok {
		l.Fault(s.template, "write each placeholder as {{amount}}", "the summary has braces that are no placeholder")
	}
	for _, name := range names {
		if name == "" || contains(schema.Get("required"), name) && schema.Get("properties").Get(name) != nil {
			continue
		}
		remedy := "add it to properties and to required"
		if required := requiredOf(schema); len(required) > 0 {
			remedy = strictyaml.Meant(name, required) + " or " + remedy
		}
		l.Fault(s.template, remedy, "the summary's {{%s}} is no required argument", name)
	}
}

// fixed reports the properties whose names the query of the url has: an argument would be added to the value that is
// fixed there.
func (l *loader) fixed(s *spec, properties *strictjson.Value) {
	s.Fixed = s.http.fixed
	for _, name := range s.Fixed {
		if properties.Get(name) == nil {
			continue
		}
		n := at(s.schema, "/properties")
		if i := slices.IndexFunc(n.Content, func(key *yaml.Node) bool { return key.Value == name }); i >= 0 {
			n = n.Content[i]
		}
		l.Fault(n, "remove the property, or take "+strictyaml.Quoted(name)+" out of the url",
			"the property %s is fixed in the query of the url", strictyaml.Quoted(name))
	}
}

func requiredOf(schema *strictjson.Value) (names []string) {
	if list := schema.Get("required"); list != nil {
		for _, item := range list.Items {
			names = append(names, item.String)
		}
	}
	return names
}

func contains(list *strictjson.Value, name string) bool {
	return list != nil && slices.ContainsFunc(list.Items, func(v *strictjson.Value) bool { return v.String == name })
}

// schemaOf turns the schema into JSON, and checks it as the tool does.
func (l *loader) schemaOf(s *spec) bool {
	const what, remedy = "the arguments are no JSON Schema",
		"write a JSON Schema, such as {type: object, properties: {amount: {type: number}}, required: [amount]}"
	text, ok := l.JSON(s.schema, "the schema of the arguments")
	if !ok {
		return false
	}
	check := tool.Tool{Name: "a.b", Schema: text, Do: s.command.do("a.b", 0)}
	var faults tool.SchemaFaults
	if err := check.Validate(); errors.As(err, &faults) {
		for _, f := range faults {
			l.Fault(at(s.schema, f.Pointer), remedy, "%s: %s", what, strings.TrimPrefix(f.Pointer+": "+f.What, ": "))
		}
		return false
	}
	s.Schema = text
	return true
}

// at is the value that a JSON pointer names, or the nearest one above it.
func at(n *yaml.Node, pointer string) *yaml.Node {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		next := child(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, step string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}
