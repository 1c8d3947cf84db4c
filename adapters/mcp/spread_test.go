package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// doubling gives definitions a0 to a40, of which each refers to the next twice.
func doubling(form string) string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, `"a%d":%s,`, i, strings.ReplaceAll(form, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)))
	}
	return b.String() + `"a40":{}`
}

func schemaFault(t *testing.T, schema string) string {
	var v any
	if err := json.Unmarshal([]byte(schema), &v); err != nil {
		t.Fatal(err)
	}
	if _, err := define(&sdk.Tool{Name: "a", InputSchema: v}, func(text string) string { return text }); err != nil {
		return err.Error()
	}
	return ""
}

func TestSchemasThatCostTooMuchAreRefused(t *testing.T) {
	const often, nowhere, own = "too often", "does not exist", "has an"
	bomb := `"$defs":{` + doubling(`{"allOf":[NEXT,NEXT]}`) + `}`
	steps := make([]string, 16) // each circle once, and on to the next circle
	for i := range steps {
		steps[i] = fmt.Sprintf(`"a%d":{"properties":{"a":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}}}`, i, i, i+1)
	}
	for name, c := range map[string]struct{ schema, want string }{
		"from the top":                {`{"$ref":"#/$defs/a0",` + bomb + `}`, often},
		"a property definitions":      {`{"properties":{"definitions":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"a property $defs":            {`{"properties":{"$defs":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"a property $ref":             {`{"properties":{"$ref":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"a pattern definitions":       {`{"patternProperties":{"definitions":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"a dependency definitions":    {`{"dependentSchemas":{"definitions":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"an older dependency":         {`{"dependencies":{"$defs":{"$ref":"#/$defs/a0"}},` + bomb + `}`, often},
		"definitions at every level":  {`{"properties":{"definitions":{"$ref":"#/$defs/a0"}},"$defs":{` + doubling(`{"properties":{"definitions":{"anyOf":[NEXT,NEXT]}}}`) + `}}`, often},
		"a name with an escape":       {`{"$ref":"#/$defs/%610","$defs":{"%610":{},` + doubling(`{"allOf":[NEXT,NEXT]}`) + `}}`, often},
		"not and if":                  {`{"$ref":"#/$defs/a0","$defs":{` + doubling(`{"not":NEXT,"if":NEXT}`) + `}}`, often},
		"items and contains":          {`{"properties":{"l":{"$ref":"#/$defs/a0"}},"$defs":{` + doubling(`{"items":NEXT,"contains":NEXT}`) + `}}`, often},
		"a property and a pattern":    {`{"$ref":"#/$defs/a0","$defs":{` + doubling(`{"properties":{"a":NEXT},"patternProperties":{"a":NEXT}}`) + `}}`, often},
		"a circle entered twice":      {`{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}`, often},
		"a circle as alternatives":    {`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"not":{"$ref":"#"}}]}}}`, often},
		"a circle by $ref and allOf":  {`{"properties":{"a":{"$ref":"#","allOf":[{"$ref":"#"}]}}}`, often},
		"a circle by two keys":        {`{"additionalProperties":{"$ref":"#"},"patternProperties":{"a":{"$ref":"#"}}}`, often},
		"a circle by two objects":     {`{"properties":{"a":{"$ref":"#"}},"allOf":[{"additionalProperties":{"$ref":"#"}}]}`, often},
		"a circle over two levels":    {`{"properties":{"a":{"items":{"$ref":"#"},"contains":{"$ref":"#"}}}}`, often},
		"circles in a row":            {`{"$ref":"#/$defs/a0","$defs":{` + strings.Join(steps, ",") + `,"a16":{}}}`, often},
		"a circle at one value":       {`{"properties":{"a":{"$ref":"#/properties/a"}}}`, often},
		"a reference to nothing":      {`{"properties":{"a":{"$ref":"#/$defs/a"}}}`, nowhere},
		"an anchor":                   {`{"properties":{"a":{"$ref":"#a"}},"$defs":{"a":{"$anchor":"a"}}}`, nowhere},
		"a part with an $id":          {`{"$ref":"#/$defs/b/x","$defs":{"b":{"$id":"urn:b","x":{"$ref":"#/x"}}}}`, own},
		"a part with an id, draft 4":  {`{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"b":{"id":"urn:b"}}}`, own},
		"a part of draft 4":           {`{"$defs":{"b":{"$schema":"http://json-schema.org/draft-04/schema#","id":"urn:b"}}}`, "older draft"},
		"a dynamic reference":         {`{"properties":{"a":{"$dynamicRef":"#a"}}}`, "$dynamicRef"},
		"a recursive reference":       {`{"properties":{"a":{"$recursiveRef":"#"}}}`, "$recursiveRef"},
		"more parts than may be here": {`{"allOf":[` + strings.Repeat(`{},`, maxChecks) + `{}]}`, often},
	} {
		t.Run(name, func(t *testing.T) {
			if got := schemaFault(t, c.schema); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestSchemasThatReferToThemselvesOnceAreTaken(t *testing.T) {
	for name, schema := range map[string]string{
		"a tree":                  `{"properties":{"children":{"type":"array","items":{"$ref":"#"}}}}`,
		"a binary tree":           `{"properties":{"left":{"$ref":"#"},"right":{"$ref":"#"}}}`,
		"a list":                  `{"properties":{"next":{"anyOf":[{"type":"null"},{"$ref":"#"}]}}}`,
		"any JSON":                `{"additionalProperties":{"$ref":"#/$defs/j"},"$defs":{"j":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/j"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/j"}}]}}}`,
		"a filter":                `{"properties":{"f":{"$ref":"#/$defs/f"}},"$defs":{"f":{"oneOf":[{"properties":{"and":{"items":{"$ref":"#/$defs/f"}}}},{"properties":{"or":{"items":{"$ref":"#/$defs/f"}}}},{"properties":{"not":{"$ref":"#/$defs/f"}}}]}}}`,
		"a property and the rest": `{"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}}`,
		"items and the rest":      `{"properties":{"a":{"$ref":"#/$defs/e"}},"$defs":{"e":{"prefixItems":[{"type":"string"},{"$ref":"#/$defs/e"}],"items":{"$ref":"#/$defs/e"}}}}`,
		"one part used often":     `{"properties":{"b":{"$ref":"#/$defs/a"},"c":{"items":{"$ref":"#/$defs/a"}}},"$defs":{"a":{"type":"string"}}}`,
		"an $id of the whole":     `{"$id":"https://example.com/a","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{}}}`,
		"a property $id":          `{"properties":{"$id":{"type":"string"},"id":{"type":"string"},"definitions":{"type":"object"}}}`,
		"unused definitions":      `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		"older items":             `{"properties":{"a":{"items":[{"$ref":"#"}],"additionalItems":{"$ref":"#"}}}}`,
		"boolean schemas":         `{"properties":{"a":true},"additionalProperties":false}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := schemaFault(t, schema); got != "" {
				t.Error(got)
			}
		})
	}
}
