package tool

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// SchemaFault is one thing that is wrong with a schema.
type SchemaFault struct {
	Pointer string // the JSON pointer to the part of the schema; "" = the whole
	What    string
}

// SchemaFaults are what is wrong with a schema. As an error their category is invalid.
type SchemaFaults []SchemaFault

// Error names all faults.
func (f SchemaFaults) Error() string {
	texts := make([]string, len(f))
	for i, fault := range f {
		texts[i] = strings.TrimPrefix(fault.Pointer+": "+fault.What, ": ")
	}
	return strings.Join(texts, "; ")
}

// ErrorCategory makes SchemaFaults a core.Categorized error.
func (f SchemaFaults) ErrorCategory() core.Category { return core.Invalid }

// place is the address under which a schema is compiled: references within it are resolved against it.
const place = "schema:arguments"

// nothingElse refuses every other document that a schema refers to: nothing is read from the network or from files.
type nothingElse struct{}

func (nothingElse) Load(string) (any, error) {
	return nil, errors.New("a schema can't refer to other documents")
}

// compile compiles a schema of arguments. The draft is 2020-12 unless $schema says another, and a format is an
// annotation. Of an empty schema it gives nil.
func compile(schema json.RawMessage) (*jsonschema.Schema, SchemaFaults) {
	if len(schema) == 0 {
		return nil, nil
	}
	doc, err := strictjson.Parse(schema)
	if err != nil {
		return nil, SchemaFaults{{"", "it is not valid JSON: " + err.Error()}}
	}
	if kind := doc.Get("type"); doc.Kind != strictjson.Object || kind == nil || kind.String != "object" {
		return nil, SchemaFaults{{"", `its type must be object, as in {"type": "object", "properties": …}`}}
	}
	if patternsOf(doc) > MaxPatterns {
		return nil, SchemaFaults{{"", errPatterns.Error()}}
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(compilePattern)
	c.UseLoader(nothingElse{})
	if err := c.AddResource(place, doc.Any()); err != nil {
		return nil, schemaFaults(err)
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, schemaFaults(err)
	}
	if tooCostly(compiled, map[string]any{}) {
		return nil, SchemaFaults{{"", "it is too large with its references followed: not even a call without " +
			"arguments can be checked"}}
	}
	return compiled, nil
}

func schemaFaults(err error) SchemaFaults {
	var invalid *jsonschema.SchemaValidationError
	var wrong *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &wrong) {
		var all SchemaFaults
		for _, leaf := range leaves(wrong) {
			all = append(all, SchemaFault{strictjson.Pointer(leaf.InstanceLocation...), describe(leaf)})
		}
		return all
	}
	return SchemaFaults{{"", strings.ReplaceAll(err.Error(), place, "")}}
}
