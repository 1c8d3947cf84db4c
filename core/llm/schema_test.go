package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core/llm"
)

func TestASchemaThatEveryVendorTakes(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"as it is": {`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],` +
			`"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],` +
				`"additionalProperties":false}`},
		"no arguments": {`{"type":"object"}`, `{"type":"object"}`},
		"digits of numbers": {
			`{"type":"object","properties":{"n":{"maximum":9007199254740993,"minimum":1.0}}}`,
			`{"type":"object","properties":{"n":{"maximum":9007199254740993,"minimum":1.0}}}`,
		},
		"parts that hold all": {`{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},` +
			`{"properties":{"b":true},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":true},"required":["a","b"]}`},
		"alternatives": {`{"anyOf":[{"type":"object","properties":{"a":{},"id":{"type":"string"}},"required":["a",` +
			`"id"]},{"properties":{"b":{},"id":{"type":"string"}},"required":["b","id"]},{"type":"null"}]}`,
			`{"type":"object","properties":{"a":{},"b":{},"id":{"type":"string"}},"required":["id"]}`},
		"an argument tells": {`{"type":"object","oneOf":[{"properties":{"kind":{"const":"x"}}},` +
			`{"properties":{"kind":{"const":"y"}}}]}`,
			`{"type":"object","properties":{"kind":{"anyOf":[{"const":"x"},{"const":"y"}]}}}`},
		"own words count first": {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],` +
			`"anyOf":[{"properties":{"a":{"const":"x"}},"required":["b"]}]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"]}`},
		"other words at the root": {`{"type":"object","properties":{"a":{}},"enum":[{"a":1}],"not":{"required":["b"]}}`,
			`{"type":"object","properties":{"a":{}}}`},
		"inside it may say all": {`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},` +
			`{"type":"null"}],"enum":["x",null]}}}`,
			`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}],"enum":["x",null]}}}`},
		"a reference at the root": {`{"$ref":"#/definitions/Args","definitions":{"Args":{"type":"object",` +
			`"properties":{"a":{"$ref":"#/definitions/A%20~1b"}},"required":["a"]},"A /b":{"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/definitions/A%20~1b"}},"required":["a"],` +
				`"definitions":{"Args":{"type":"object","properties":{"a":{"$ref":"#/definitions/A%20~1b"}},` +
				`"required":["a"]},"A /b":{"type":"string"}}}`},
		"alternatives by reference": {`{"type":"object","oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}],` +
			`"$defs":{"A":{"properties":{"a":{}}},"B":{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}}}]}}}`,
			`{"type":"object","properties":{"a":{},"b":{}},"$defs":{"A":{"properties":{"a":{}}},` +
				`"B":{"allOf":[{"$ref":"#/$defs/A"},{"properties":{"b":{}}}]}}}`},
		"a circle": {`{"$ref":"#/$defs/A","$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"},{"$ref":"#"}],` +
			`"properties":{"a":{"$ref":"#"}}}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#"}},"$defs":{"A":{"allOf":[{"$ref":"#/$defs/A"},` +
				`{"$ref":"#"}],"properties":{"a":{"$ref":"#"}}}}}`},
		"a reference that leads nowhere": {`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},` +
			`"b":{"$ref":"#/anyOf/0/properties/a"}}}],"properties":{"c":{"$ref":"#name"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{},"c":{}}}`},
		"a list says what is in it": {`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":["array",` +
			`"null"]},"c":{"type":"array","items":false}}}`,
			`{"type":"object","properties":{"a":{"type":"array","items":{}},"b":{"type":["array","null"],` +
				`"items":{}},"c":{"type":"array","items":false}}}`},
		"an older draft's tuples": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
			`"properties":{"a":{"items":[{"type":"string"},{"type":"array"}],"additionalItems":{"type":"number"}},` +
			`"b":{"items":[{}],"additionalItems":false}}}`,
			`{"type":"object","properties":{"a":{"prefixItems":[{"type":"string"},{"type":"array","items":{}}],` +
				`"items":{"type":"number"}},"b":{"prefixItems":[{}],"items":{}}}}`},
		"an older draft's limits": {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",` +
			`"properties":{"a":{"minimum":0,"exclusiveMinimum":true},"b":{"maximum":9,"exclusiveMaximum":false}}}`,
			`{"type":"object","properties":{"a":{"exclusiveMinimum":0},"b":{"maximum":9}}}`},
		"arguments that are named like it": {`{"type":"object","properties":{"items":{"type":"string"},` +
			`"oneOf":{"type":"array"},"$ref":{"type":"string"}}}`,
			`{"type":"object","properties":{"items":{"type":"string"},"oneOf":{"type":"array","items":{}},` +
				`"$ref":{"type":"string"}}}`},
		"what can't be read": {`{"type":`, `{"type":`},
		"nothing":            {``, ``},
	} {
		got := string(llm.PortableSchema(json.RawMessage(c.schema)))
		if canonical(got) != canonical(c.want) {
			t.Errorf("%s: %s", name, cmp.Diff(canonical(c.want), canonical(got)))
		}
		if again := string(llm.PortableSchema(json.RawMessage(got))); canonical(again) != canonical(got) {
			t.Errorf("%s: it is changed again, to %s", name, again)
		}
	}
}

// canonical is JSON in one form, or the text itself.
func canonical(text string) string {
	data, err := llm.Canonical(json.RawMessage(text))
	if err != nil {
		return text
	}
	return string(data)
}

// TestAPortableSchemaOfManyParts: schemas that servers may define, of the size that is allowed, are read in a moment.
func TestAPortableSchemaOfManyParts(t *testing.T) {
	var alternatives, defs []string
	for i := range 1000 {
		alternatives = append(alternatives, fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i))
		defs = append(defs,
			fmt.Sprintf(
				`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}],"properties":{"a":{"const":%d}}}`, i,
				(i+1)%1000, (i+7)%1000, i))
	}
	schema := fmt.Sprintf(`{"type":"object","anyOf":[%s],"$defs":{%s}}`, strings.Join(alternatives, ","),
		strings.Join(defs, ","))
	var got struct {
		Properties map[string]struct{ AnyOf []any }
	}
	if err := json.Unmarshal(llm.PortableSchema(json.RawMessage(schema)), &got); err != nil ||
		len(got.Properties["a"].AnyOf) != 1000 {
		t.Errorf("%v: %d alternatives", err, len(got.Properties["a"].AnyOf))
	}
}

// FuzzPortableSchema: what comes of a schema is one of 2020-12, without what vendors refuse.
func FuzzPortableSchema(f *testing.F) {
	f.Add(
		`{"type":"object","oneOf":[{"properties":{"a":{"const":1}},"required":["a"]},` +
			`{"properties":{"a":{"const":2}}}]}`)
	f.Add(
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"array",` +
			`"items":[{"type":"string"}],"additionalItems":false}}}`)
	f.Add(
		`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"minimum":0,` +
			`"exclusiveMinimum":true}}}`)
	f.Add(
		`{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},` +
			`{"properties":{"b":{"type":"array"}}}]}}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		portable := llm.PortableSchema(json.RawMessage(schema))
		if compiles(schema) != nil || string(portable) == schema {
			return
		}
		var root map[string]any
		if err := json.Unmarshal(portable, &root); err != nil || root["type"] != "object" {
			t.Fatalf("%s becomes %s: %v", schema, portable, err)
		}
		for _, key := range []string{"$schema", "$ref", "oneOf", "anyOf", "allOf", "enum", "not"} {
			if root[key] != nil {
				t.Errorf("%s at the root of %s", key, portable)
			}
		}
		if err := compiles(string(portable)); err != nil {
			t.Errorf("%s becomes %s: %v", schema, portable, err)
		}
	})
}

func compiles(schema string) error {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema:it", doc); err != nil {
		return err
	}
	_, err = c.Compile("schema:it")
	return err
}
