package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// longestArgument is how long the name of an argument may be.
const longestArgument = 64

// arguments has the names of arguments on the wire, by the tool's name. The API refuses the whole request if one tool
// has an argument whose name is too long, or has other characters than letters, digits, "_", "-" and "."; what is
// inside an argument may have any name. A tool whose arguments all have names that are admitted is not here.
type arguments map[string]llm.Names

// aboutNames are the keywords of a schema that name arguments, beside properties and required.
var aboutNames = []string{
	"dependentRequired", "dependentSchemas", "dependencies", "propertyNames", "if", "then", "else", "not",
}

// rename gives the arguments in the schema of a tool other names where the API would refuse the request, and keeps
// which. Such an argument has its own name as its title, for the model. What else names arguments is left out then.
func (a arguments) rename(tool string, schema object) {
	properties, _ := schema["properties"].(object)
	names := llm.MapNames(slices.Collect(maps.Keys(properties)), longestArgument, ".")
	onWire := object{}
	for name, property := range properties {
		wire := names.Wire(name)
		if wire != name {
			a[tool] = names
			property = titled(property, name)
		}
		onWire[wire] = property
	}
	if _, renamed := a[tool]; !renamed {
		return
	}
	schema["properties"] = onWire
	required, _ := schema["required"].([]any)
	for i, name := range required {
		if name, ok := name.(string); ok {
			required[i] = names.Wire(name)
		}
	}
	for _, key := range aboutNames {
		delete(schema, key)
	}
}

// titled is the schema of an argument with a title, if it has none.
func titled(property any, title string) any {
	schema, ok := property.(object)
	if ok && schema["title"] == nil {
		schema["title"] = title
	}
	return property
}

// convert gives the arguments of a call, an object, with their names by to: llm.Names.Wire or llm.Names.Ours. All else
// keeps its bytes.
func (a arguments) convert(tool string, written json.RawMessage, to func(llm.Names, string) string) json.RawMessage {
	names, renamed := a[tool]
	v, err := strictjson.Parse(written, strictjson.Repeats, strictjson.Replace)
	if !renamed || err != nil {
		return written
	}
	converted := []byte("{")
	for i, m := range v.Members {
		if i > 0 {
			converted = append(converted, ',')
		}
		key, _ := json.Marshal(to(names, m.Key)) // a text: can't fail
		converted = append(append(append(converted, key...), ':'), m.Value.Raw(written)...)
	}
	return append(converted, '}')
}
