package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// list writes n values that f makes, with commas.
func list(n int, f func(i int) string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = f(i)
	}
	return strings.Join(all, ",")
}

// same gives text for each i.
func same(text string) func(int) string { return func(int) string { return text } }

// definitions gives a0 to a40, of which each is made from a form with NEXT for the next.
func definitions(form string) string {
	return `"$defs":{` + list(40, func(i int) string {
		return fmt.Sprintf(`"a%d":%s`, i, strings.ReplaceAll(form, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)))
	}) + `,"a40":{}}`
}

// Without the bound, each of these would take from several seconds to forever.
func TestArgumentsThatTakeTooLongToCheckAreRefused(t *testing.T) {
	items := func(n int, item string) string { return `{"l":[` + list(n, same(item)) + `]}` }
	members := `{` + list(9000, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + `}`
	deep := strings.Repeat(`{"a":`, 30) + `{}` + strings.Repeat(`}`, 30)
	forItems := func(part string) string { return `"properties":{"l":{"items":` + part + `}}` }
	for name, c := range map[string]struct{ schema, args string }{
		"parts for each item": {
			forItems(`{"allOf":[` + list(900, same(`{"type":"string"}`)) + `]}`), items(9000, `"a"`),
		},
		"alternatives for each item": {
			forItems(`{"anyOf":[` + list(900, same(`{"type":"number"}`)) + `]}`), items(9000, `"a"`),
		},
		"numbers to compare with": {forItems(`{"enum":[` + list(5000, same("1e300")) + `]}`), items(100, `0.5`)},
		"objects to compare with": {
			forItems(`{"enum":[` + list(5000, same(`{"a":1}`)) + `]}`), items(100, `{"a":2}`),
		},
		"numbers with long digits": {
			forItems(`{"allOf":[{"multipleOf":0.1},{"multipleOf":0.3}]}`), items(9000, `1e399`),
		},
		"required names": {forItems(`{"required":[` + list(5000, func(i int) string {
			return fmt.Sprintf(`"v%d"`, i)
		}) + `]}`), items(9000, `{}`)},
		"patterns for each member": {`"patternProperties":{` + list(500, func(i int) string {
			return fmt.Sprintf(`"^(a|b)*x%d":{}`, i)
		}) + `}`, members},
		"a pattern for a long text": {
			forItems(`{"pattern":"(x?){1000}$"}`), items(1, `"`+strings.Repeat("x", 100_000)+`"`),
		},
		"definitions that double below": {
			`"properties":{"a":{"$ref":"#/$defs/a0"}},` + definitions(`{"not":NEXT,"if":NEXT}`), `{"a":1}`,
		},
		"definitions that double a list": {
			`"properties":{"l":{"$ref":"#/$defs/a0"}},` + definitions(`{"items":NEXT,"contains":NEXT}`),
			`{"l":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`,
		},
		"a circle entered twice": {`"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}`, deep},
		"a circle by two keys": {
			`"additionalProperties":{"$ref":"#"},"patternProperties":{"a":{"$ref":"#"}}`, deep,
		},
		"a circle for one value": {`"properties":{"a":{"$ref":"#/properties/a"}}`, deep},
		"a long chain for each item": {
			forItems(`{"$ref":"#/$defs/a0"}`) + `,` + definitions(`{"allOf":[NEXT]}`), items(9000, `1`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := tool.Tool{Name: "a.b", Schema: json.RawMessage(`{"type":"object",` + c.schema + `}`), Do: nothing}
			_, err := tool.NewRegistry(one).Find(core.ToolCall{Name: "a.b", Arguments: json.RawMessage(c.args)})
			if core.CategoryOf(err) != core.ToolArguments ||
				!strings.Contains(core.MessageOf(err), "send less in one call") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestArgumentsOfUsualSizeAreChecked(t *testing.T) {
	tree := strings.Repeat(`{"children":[{},`, 15) + `{}` + strings.Repeat(`]}`, 15)
	blocks := list(30, func(i int) string {
		return fmt.Sprintf(
			`{"type":"object","required":["type","text"],"properties":{"type":{"const":"k%d"},`+
				`"text":{"type":"string","maxLength":2000},"children":{"items":{"$ref":"#/$defs/block"}}}}`,
			i)
	})
	const entity = `{"name":"Ann","entityType":"person","observations":["likes tea","lives in Ulm"]}`
	for name, c := range map[string]struct{ schema, args string }{
		"a tree": {`"properties":{"children":{"items":{"$ref":"#"}}}`, tree},
		"a tree by any key": {
			`"additionalProperties":{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"$ref":"#"}]}`, tree,
		},
		"200 blocks of 30 kinds": {
			`"properties":{"l":{"items":{"$ref":"#/$defs/block"}}},"$defs":{"block":{"oneOf":[` + blocks + `]}}`,
			`{"l":[` + list(200, same(`{"type":"k7","text":"a line of text"}`)) + `]}`,
		},
		"1500 entities": {`"required":["l"],"properties":{"l":{"items":{"type":"object","required":["name",` +
			`"entityType","observations"],"additionalProperties":false,
			"properties":{"name":{"type":"string"},"entityType":{"type":"string"},"observations":{"type":"array",` +
			`"items":{"type":"string"}}}}}}`,
			`{"l":[` + list(1500, same(entity)) + `]}`},
		"a long file": {`"properties":{"content":{"type":"string"},"path":{"type":"string","pattern":"^[a-z./]+$"}}`,
			`{"path":"./a.txt","content":"` + strings.Repeat("x", 1<<20) + `"}`},
		"9000 numbers": {
			`"properties":{"l":{"items":{"type":"number","minimum":0,"maximum":100}}}`,
			`{"l":[` + list(9000, same("12.5")) + `]}`,
		},
		"1000 unique texts": {
			`"properties":{"l":{"uniqueItems":true,"items":{"type":"string"}}}`,
			`{"l":[` + list(1000, func(i int) string {
				return fmt.Sprintf(`"%d"`, i)
			}) + `]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := tool.Tool{Name: "a.b", Schema: json.RawMessage(`{"type":"object",` + c.schema + `}`), Do: nothing}
			if _, err := tool.NewRegistry(one).Find(
				core.ToolCall{Name: "a.b", Arguments: json.RawMessage(c.args)}); err != nil {
				t.Error(err)
			}
			if secret := one.Secret(json.RawMessage(c.args)); len(secret) > 0 {
				t.Errorf("secret: %q", secret)
			}
		})
	}
}

func TestSchemasWhoseReferencesMultiplyAreRefused(t *testing.T) {
	for name, part := range map[string]string{
		"definitions that double": `"$ref":"#/$defs/a0",` + definitions(`{"allOf":[NEXT,NEXT]}`),
		"a circle for one value":  `"allOf":[{"$ref":"#"}]`,
	} {
		_, err := tool.Tool{
			Name: "a.b", Schema: json.RawMessage(`{"type":"object",` + part + `}`), Do: nothing,
		}.Prepare()
		if core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), "references followed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPatternsThatAreTooLargeAreRefused(t *testing.T) {
	for name, part := range map[string]string{
		"one":  `"properties":{"a":{"pattern":"` + strings.Repeat("(x?){1000}", 20) + `"}}`,
		"many": `"properties":{"a":{"allOf":[` + list(20, same(`{"pattern":"(x?){1000}"}`)) + `]}}`,
		"those of names": `"patternProperties":{` + list(20, func(i int) string {
			return fmt.Sprintf(`"%d(x?){1000}":{}`, i)
		}) + `}`,
		"a nested repeat": `"properties":{"a":{"pattern":"` + strings.Repeat("((x?){30}y){30}", 20) + `"}}`,
	} {
		_, err := tool.Tool{
			Name: "a.b", Schema: json.RawMessage(`{"type":"object",` + part + `}`), Do: nothing,
		}.Prepare()
		if core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), "too large") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
