package tools

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictjson"
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
	if s.template == nil {
		return
	}
	names, ok := placeholders(s.template.Value)
	if !ok {
		l.fault(s.template.Line, "write each placeholder as {{amount}}", "the summary has braces that are no placeholder")
	}
	schema, err := strictjson.Parse(s.Schema)
	if err != nil {
		return // a fault of the schema
	}
	for _, name := range names {
		if name == "" || contains(schema.Get("required"), name) && schema.Get("properties").Get(name) != nil {
			continue
		}
		remedy := "add it to properties and to required"
		if required := requiredOf(schema); len(required) > 0 {
			remedy = meant(name, required) + " or " + remedy
		}
		l.fault(s.template.Line, remedy, "the summary's {{%s}} is no required argument", name)
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
	const what, remedy = "the arguments are no JSON Schema", "write a JSON Schema, such as {type: object, properties: {amount: {type: number}}, required: [amount]}"
	var value any
	if err := s.schema.Decode(&value); err != nil {
		at, text := l.position(err, s.schema.Line)
		l.fault(at, "correct it", "%s: %s", what, text)
		return false
	}
	text, err := json.Marshal(value)
	if err != nil {
		l.fault(s.schema.Line, "use texts as keys, and numbers that JSON has", "%s: %v", what, err)
		return false
	}
	check := tool.Tool{Name: "a.b", Schema: text, Do: s.command.do("a.b", 0)}
	var faults tool.SchemaFaults
	if err := check.Validate(); errors.As(err, &faults) {
		for _, f := range faults {
			l.fault(lineOf(s.schema, f.Pointer), remedy, "%s: %s", what, strings.TrimPrefix(f.Pointer+": "+f.What, ": "))
		}
		return false
	}
	s.Schema = text
	return true
}

// lineOf is the line of the value that a JSON pointer names, or of the nearest one above it.
func lineOf(n *yaml.Node, pointer string) int {
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		next := child(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		if next == nil {
			break
		}
		n = next
	}
	return n.Line
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
