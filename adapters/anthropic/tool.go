package anthropic

import (
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// addTools adds the tools and the choice among them. Without a choice the field is left out, and so it is without
// tools, where the API refuses it and auto and none change nothing.
func (p *payload) addTools(root object, r llm.Request) error {
	var tools []object
	for _, t := range r.Tools {
		schema, err := inputSchema(t)
		if err != nil {
			return err
		}
		p.arguments.rename(t.Name, schema)
		tool := object{"name": p.names.Wire(t.Name), "input_schema": schema}
		if t.Description != "" {
			tool["description"] = t.Description
		}
		tools = append(tools, tool)
	}
	if len(tools) == 0 {
		return nil
	}
	root["tools"] = tools
	switch r.Choice.Mode {
	case llm.ChooseAuto:
		root["tool_choice"] = object{"type": "auto"}
	case llm.ChooseNone:
		root["tool_choice"] = object{"type": "none"}
	case llm.ChooseRequired:
		root["tool_choice"] = object{"type": "any"}
	case llm.ChooseTool:
		root["tool_choice"] = object{"type": "tool", "name": p.names.Wire(r.Choice.Tool)}
	}
	return nil
}

// inputSchema is a tool's schema as the API takes it: of type object, and without oneOf, anyOf and allOf at its root.
// The model is told less then; the arguments are checked against the whole schema before the tool runs.
func inputSchema(t llm.Tool) (object, error) {
	if len(t.Parameters) == 0 {
		return object{"type": "object"}, nil
	}
	v, err := strictjson.Parse(t.Parameters)
	if err != nil {
		return nil,
			core.Wrap(core.ProviderInvalidRequest, err, "The parameters of the tool %s are not valid JSON.", t.Name)
	}
	schema, ok := v.Any().(object)
	if !ok {
		return nil, core.Errorf(core.ProviderInvalidRequest, "The parameters of the tool %s must be the JSON Schema "+
			"of an object.", t.Name)
	}
	schema["type"] = "object"
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		delete(schema, key)
	}
	return schema, nil
}
