package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// read reads a schema, and checks that what comes of it is a valid one, for every validator.
func read(t *testing.T, schema string) (view, unchecked string) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(schema), &v); err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	before := fmt.Sprint(v)
	out, left, err := Read(v, testMasker{})
	if err != nil {
		return "", err.Error()
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	meta, err := jsonschema.NewCompiler().Compile(modernDialect)
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.Validate(doc); err != nil {
		t.Errorf("%s is read as %s: %v", schema, out, err)
	}
	if fmt.Sprint(v) != before {
		t.Errorf("%s was changed to %v", schema, v)
	}
	return string(out), strings.Join(left, ", ")
}

func TestSchemasAreReadInTheWordsOf2020(t *testing.T) {
	const object = `{"type":"object"}`
	of := func(part string) string { return `{"properties":{"a":` + part + `},"type":"object"}` }
	for schema, want := range map[string]string{
		`null`: object, `{}`: object, `[]`: object, `true`: object,
		`{"type":["object","null"],"$schema":"http://json-schema.org/schema#"}`: object,
		`{"type":"Object","required":null,"properties":null,"$defs":null}`:      object,
		`{"type":"object","properties":[],"required":{},"oneOf":[],"allOf":[]}`: object,
		of(`{"items":null,"description":null,"enum":null,"type":null}`):         of(`{}`),
		of(`[]`): of(`{}`), of(`null`): of(`{}`), of(`true`): of(`true`), of(`false`): of(`false`),
		of(`{"type":"string","additionalProperties":[],"not":null}`): of(
			`{"additionalProperties":{},"type":"string"}`),
		of(`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false}`): of(
			`{"exclusiveMinimum":0,"maximum":5,"type":"number"}`),
		of(`{"exclusiveMaximum":true,"divisibleBy":2}`): of(`{"multipleOf":2}`),
		of(`{"type":"array","items":[{"type":"string"}],"additionalItems":false}`): of(
			`{"items":false,"prefixItems":[{"type":"string"}],"type":"array"}`),
		of(`{"items":[],"additionalItems":{"type":"string"}}`): of(`{"items":{}}`),
		of(`{"dependencies":{"b":["c","c"],"d":"e","f":{"required":["g"]}}}`): of(
			`{"dependentRequired":{"b":["c"],"d":["e"]},"dependentSchemas":{"f":{"required":["g"]}}}`),
		of(`{"extends":{"minLength":1}}`): of(`{"allOf":[{"minLength":1}]}`),
		of(
			`{"type":"string","required":true}`): `{"properties":{"a":{"type":"string"}},"required":["a"],` +
			`"type":"object"}`,
		of(`{"type":"string","nullable":true,"enum":["x","x"]}`): of(
			`{"enum":["x",null],"type":["string","null"]}`),
		of(`{"type":["string","String",null],"nullable":true}`): of(`{"type":["string","null"]}`),
		of(`{"oneOf":[{"type":"int"},{"type":"bool"}],"nullable":true}`): of(
			`{"anyOf":[{"oneOf":[{"type":"integer"},{"type":"boolean"}]},{"type":"null"}]}`),
		of(`{"type":"any"}`): of(`{}`), of(`{"type":[]}`): of(`{}`), of(`{"type":["any","string"]}`): of(`{}`),
		of(
			`{"type":"string","const":null,"default":5,"examples":"x","deprecated":"yes","format":7,"title":1}`): of(
			`{"const":null,"default":5,"type":"string"}`),
		of(
			`{"description":"a\u200bb hunter22","x-order":1,"default":"hunter22"}`): of(
			`{"description":"a\\u200bb ••••••","x-order":1}`),
		`{"type":"object","strict":true,"required":["b","b"],"properties":{"id":{"$id":"urn:b","type":"string"},` +
			`"$ref":{"type":"string"},` +
			`"ключ":{}}}`: `{"properties":{"$ref":{"type":"string"},"id":{"type":"string"},"ключ":{}},` +
			`"required":["b"],"strict":true,"type":"object"}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{},"required":[],` +
			`"additionalProperties":false}`: `{"$schema":"https://json-schema.org/draft/2020-12/schema",` +
			`"additionalProperties":false,"properties":{},"required":[],"type":"object"}`,
		of(`{"if":{"minLength":1}}`):      of(`{"if":{"minLength":1}}`),
		of(`{"pattern":"^\\cA\\u0041$"}`): of(`{"pattern":"^\\cA\\u0041$"}`),
	} {
		if got, unchecked := read(t, schema); got != want || unchecked != "" {
			t.Errorf("%s is read as\n%s, not\n%s; %s", schema, got, want, unchecked)
		}
	}
}

func TestReferencesLeadToPartsOfTheSchema(t *testing.T) {
	const limit = `"$defs":{"Q":{"type":"integer"}}`
	of := func(ref, more string) string {
		return `{"type":"object","properties":{"a":{"$ref":"` + ref + `"}},` + more + `}`
	}
	want := `{` + limit + `,"properties":{"a":{"$ref":"#/$defs/Q"}},"type":"object"}`
	for _, schema := range []string{
		of("#/$defs/Q", limit),
		of("#/definitions/Q", `"definitions":{"Q":{"type":"integer"},"R":{"type":"null"}}`),
		of("#/components/schemas/Q", `"components":{"schemas":{"Q":{"type":"int"}}}`),
		of("#/x/0/Q", `"x":[{"Q":{"type":"int"}}],"default":1`),
		of("https://x.test/s#/$defs/Q", `"$id":"https://x.test/s",`+limit),
		of("s#/$defs/Q", `"$id":"https://x.test/s",`+limit),
		of("q.json", `"$id":"https://x.test/s","$defs":{"Q":{"$id":"q.json","type":"integer"}}`),
		of("urn:jsonschema:Q", `"id":"urn:jsonschema:S","$defs":{"Q":{"id":"urn:jsonschema:Q","type":"integer"}}`),
		of("#q", `"$defs":{"Q":{"$anchor":"q","type":"integer"}}`),
		of("#q", `"definitions":{"Q":{"id":"#q","type":"integer"}}`),
	} {
		schema, before := schema, want
		got, unchecked := read(t, schema)
		got = strings.Replace(strings.Replace(got, `,"default":1`, "", 1), `,"x":[{"Q":{"type":"int"}}]`, "", 1)
		if got != before || unchecked != "" {
			t.Errorf("%s is read as\n%s; %s", schema, got, unchecked)
		}
	}
	for schema, want := range map[string]string{
		`{"$ref":"#/definitions/A","definitions":{"A":{"properties":{"next":{"$ref":"#"}},` +
			`"required":["next"]}}}`: `{"$defs":{"A":{"properties":{"next":{"$ref":"#"}},"required":["next"]}},` +
			`"$ref":"#/$defs/A","type":"object"}`,
		`{"properties":{"a":{"type":"array","items":[{"type":"string"}]},` +
			`"b":{"$ref":"#/properties/a/items/0"}}}`: `{"$defs":{"0":{"type":"string"}},` +
			`"properties":{"a":{"prefixItems":[{"type":"string"}],"type":"array"},"b":{"$ref":"#/$defs/0"}},` +
			`"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/definitions/a~1b%20c","description":"x","minLength":1}},` +
			`"definitions":{"a/b c":{}},` +
			`"$schema":"http://json-schema.org/draft-07/schema#"}`: `{"$defs":{"a_b_c":{}},` +
			`"properties":{"a":{"$ref":"#/$defs/a_b_c","description":"x"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/A","minLength":1}},` +
			`"$defs":{"A":{}}}`: `{"$defs":{"A":{}},"properties":{"a":{"$ref":"#/$defs/A","minLength":1}},` +
			`"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/definitions/A"}},"$defs":{"A":{"type":"null"}},` +
			`"definitions":{"A":true}}`: `{"$defs":{"A":{"type":"null"},"A_1":true},` +
			`"properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A_1"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/T"}},"$defs":{"T":{"properties":{"t":{"$dynamicRef":"#T"}},` +
			`"$dynamicAnchor":"T"}}}`: `{"$defs":{"T":{"properties":{"t":{"$ref":"#/$defs/T"}}}},` +
			`"properties":{"a":{"$ref":"#/$defs/T"}},"type":"object"}`,
		`{"properties":{"a":{"$ref":"#/$defs/A","nullable":true}},` +
			`"$defs":{"A":{}}}`: `{"$defs":{"A":{}},"properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},` +
			`{"type":"null"}]}},"type":"object"}`,
	} {
		if got, unchecked := read(t, schema); got != want || unchecked != "" {
			t.Errorf("%s is read as\n%s, not\n%s; %s", schema, got, want, unchecked)
		}
	}
}

// Whatever is left out, nothing that the server accepts is refused.
func TestWhatCanNotBeCheckedIsLeftOutAndTold(t *testing.T) {
	const back = `{"pattern":"(a)\\1"}`
	for _, c := range []struct{ part, args, unchecked string }{
		{`{"type":"string","pattern":"(a)\\1"}`, `"b"`, "a (pattern)"},
		{`{"pattern":"/^x$/i"}`, `"b"`, "a (pattern)"},
		{`{"pattern":7,"format":"email"}`, `"b"`, "a (pattern)"},
		{`{"pattern":"` + strings.Repeat("(x?){900}", 3) + `"}`, `"b"`, "a (pattern)"},
		{`{"pattern":"` + strings.Repeat("a|", 8000) + `"}`, `"b"`, "a (pattern)"}, // reading these would take long
		{`{"pattern":"[` + strings.Repeat(`\\pL`, 300) + `]"}`, `"1"`, "a (pattern)"},
		{`{"$ref":"https://example.com/schema.json"}`, `1`, "a ($ref)"},
		{`{"$ref":"#/components/schemas/X"}`, `1`, "a ($ref)"},
		{`{"$ref":"#/properties/a"}`, `1`, "a ($ref)"},
		{`{"$ref":7}`, `1`, "a ($ref)"},
		{`{"$ref":"%"}`, `1`, "a ($ref)"},
		{`{"$ref":"#x","$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `1`, "a ($ref)"},
		{`{"minLength":"3","maxLength":-1,"minimum":"0","multipleOf":0,"maxItems":1.5,"uniqueItems":"yes"}`, `1`,
			"a (maxItems), a (maxLength), a (minLength), a (minimum), a (multipleOf), a (uniqueItems)"},
		{`{"enum":[],"type":"strnig","const":"hunter22"}`, `1`, "a (const), a (enum), a (type)"},
		{
			`{"enum":{"x":1},"required":"all","properties":[1],"additionalProperties":false,"anyOf":{"a":1}}`,
			`{"x":1}`, "a (anyOf), a (enum), a (properties), a (required), a (additionalProperties)",
		},
		{`{"properties":{"hunter22":{"not":"never"}}}`, `{}`, "a.•••••• (not)"},
		{
			`{"patternProperties":{"^(?!x)":{"type":"null"}},"additionalProperties":false}`, `{"b":1}`,
			"a.* (name's pattern), a (additionalProperties)",
		},
		{
			`{"allOf":[` + back + `],"properties":{"b":true},"unevaluatedProperties":false}`, `{"c":1}`,
			"a (pattern), a (unevaluatedProperties)",
		},
		{`{"not":` + back + `}`, `"b"`, "a (pattern), a (not)"},
		{`{"oneOf":[` + back + `,{"type":"string"}]}`, `"b"`, "a (pattern)"},
		{`{"oneOf":[null,{"type":"string"}]}`, `"b"`, "a (oneOf)"},
		{
			`{"if":` + back + `,"then":{"type":"null"},"else":{"type":"null"}}`, `"b"`,
			"a (pattern), a (if), a (else), a (then)",
		},
		{`{"contains":` + back + `,"maxContains":1}`, `["b","c"]`, "a[] (pattern), a (maxContains)"},
		{`{"not":{"$ref":"#/$defs/B"}}`, `"b"`, "B (pattern), a (not)"},
		{`{"items":"string"}`, `["b"]`, "a (items)"},
		{`{"prefixItems":{"a":1},"items":false}`, `["b"]`, "a (prefixItems), a (items)"},
		{`{"dependentRequired":{"b":1}}`, `{"b":1}`, "a (dependentRequired)"},
		{`"text"`, `"b"`, "a (schema)"},
	} {
		view, unchecked := read(t, `{"type":"object","properties":{"a":`+c.part+`},"$defs":{"B":`+back+`}}`)
		got, want := strings.Split(unchecked, ", "), strings.Split(c.unchecked, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q is left out, not %q", c.part, got, want)
		}
		one, err := tool.Tool{
			Name: "a.b", Schema: json.RawMessage(view),
			Do: func(context.Context, string, json.RawMessage) (string, error) {
				return "", nil
			},
		}.Prepare()
		if err != nil {
			t.Errorf("%s: %v", view, err)
			continue
		}
		if _, err := tool.NewRegistry(one).Find(
			core.ToolCall{Name: "a.b", Arguments: json.RawMessage(`{"a":` + c.args + `}`)}); err != nil {
			t.Errorf("%s is read as %s: %v", c.part, view, err)
		}
	}
}

func TestSchemasThatAreNoneOrTooLarge(t *testing.T) {
	chain := make([]string, 3000)
	for i := range chain {
		chain[i] = fmt.Sprintf(`"a%d":{"$ref":"#/$defs/a%d"}`, i, i+1)
	}
	nested := `{"properties":{"a":` + strings.Repeat(`{"items":`, 40) + `{"enum":[1` + strings.Repeat(`,"x"`, 2000) +
		`,"` + strings.Repeat("y", 8000) + `"]}` + strings.Repeat(`}`, 40)
	for i := range 40 {
		nested += fmt.Sprintf(`,"b%d":{"$ref":"#/properties/a%s"}`, i, strings.Repeat("/items", i))
	}
	for schema, want := range map[string]string{
		`{"type":"array"}`: "not that of an object", `{"type":["string","null"]}`: "not that of an object",
		`"object"`: "not that of an object", `[1]`: "not that of an object", `false`: "not that of an object",
		`{"properties":` + strings.Repeat(`{"a":{"items":`, 40) + `{}` + strings.Repeat(`}}`, 40) +
			`}`: "more than 64 levels",
		`{"$ref":"#/$defs/a0","$defs":{` + strings.Join(chain, ",") + `,"a3000":{}}}`: "the whole ($ref)",
		nested + "}}": "too large",
	} {
		if _, unchecked := read(t, schema); !strings.Contains(unchecked, want) {
			t.Errorf("%.80s: %s", schema, unchecked)
		}
	}
}

// testMasker knows one secret.
type testMasker struct{}

func (testMasker) Hide(text string) string {
	return strings.ReplaceAll(text, "hunter22", "••••••")
}
