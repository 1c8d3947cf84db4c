package tool_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core/tool"
)

func TestSecretsOfASchema(t *testing.T) {
	for name, c := range map[string]struct {
		schema, args string
		want         []string
	}{
		"writeOnly": {
			`{"properties":{"pin":{"writeOnly":true},"n":{"writeOnly":false}}}`, `{"pin":4711,"n":1}`, []string{"/pin"},
		},
		"format password": {`{"properties":{"code":{"type":"string","format":"password"},"day":{"format":"date"}}}`,
			`{"code":"x","day":"y"}`, []string{"/code"}},
		"nested": {
			`{"properties":{"a":{"properties":{"b":{"writeOnly":true}}}}}`, `{"a":{"b":"x","c":"y"},"b":"z"}`,
			[]string{"/a/b"},
		},
		"in an array": {
			`{"properties":{"users":{"items":{"properties":{"code":{"format":"password"}}}}}}`,
			`{"users":[{"code":"x"},{"name":"y"},{"code":"z"}]}`, []string{"/users/0/code", "/users/2/code"},
		},
		"a tuple": {`{"properties":{"login":{"prefixItems":[{},{"writeOnly":true}],"items":{"type":"string"}}}}`,
			`{"login":["ann","x","y"]}`, []string{"/login/1"}},
		"an older tuple": {
			`{"properties":{"login":{"items":[{},{"writeOnly":true}]}}}`, `{"login":["ann","x"]}`, []string{"/login/1"},
		},
		"through allOf": {`{"allOf":[{"properties":{"a":{"type":"string"}}},` +
			`{"properties":{"a":{"allOf":[{"writeOnly":true}]}}}]}`,
			`{"a":"x"}`, []string{"/a"}},
		"through one branch": {`{"properties":{"a":{"oneOf":[{"type":"number"},{"format":"password"}]},` +
			`"b":{"anyOf":[{"writeOnly":true},{}]}}}`,
			`{"a":1,"b":2}`, []string{"/a", "/b"}},
		"through a condition": {`{"if":{"properties":{"kind":{"const":"x"}}},` +
			`"then":{"properties":{"a":{"writeOnly":true}}},"else":{"properties":{"b":{"writeOnly":true}}}}`,
			`{"a":1,"b":2}`, []string{"/a", "/b"}},
		"through a reference": {`{"$defs":{"s/1":{"writeOnly":true}},"properties":{"a":{"$ref":"#/$defs/s~11"},` +
			`"b":{"$ref":"#/allOf/0"},"c":{"$ref":"other.json"}},"allOf":[{"format":"none"}]}`,
			`{"a":1,"b":2,"c":3}`, []string{"/a"}},
		"a recursive schema": {`{"properties":{"key":{"writeOnly":true},"next":{"$ref":"#"}},"allOf":[{"$ref":"#"}]}`,
			`{"next":{"next":{"key":1}}}`, []string{"/next/next/key"}},
		"keys that are not listed": {
			`{"properties":{"name":{}},"additionalProperties":{"format":"password"}}`,
			`{"name":"x","other":"y"}`, []string{"/other"},
		},
		"keys of a pattern": {
			`{"patternProperties":{"^x-":{"writeOnly":true}}}`, `{"x-a":1,"y":2}`, []string{"/x-a"},
		},
		"a key in another case": {`{"properties":{"pin":{"writeOnly":true}}}`, `{"PIN":1}`, []string{"/PIN"}},
		"a key with a slash":    {`{"properties":{"a/b~c":{"writeOnly":true}}}`, `{"a/b~c":1}`, []string{"/a~1b~0c"}},
		"a secret object": {
			`{"properties":{"a":{"writeOnly":true,"properties":{"b":{"writeOnly":true}}}}}`,
			`{"a":{"b":1}}`, []string{"/a"},
		},
		"none": {
			`{"type":"object","properties":{"writeOnly":{"type":"boolean"}}}`, `{"writeOnly":true}`, nil,
		},
		"no schema":              {``, `{"a":1}`, nil},
		"arguments of no object": {`{"properties":{"a":{"writeOnly":true}}}`, `["a"]`, nil},
	} {
		if got := (tool.Tool{Schema: json.RawMessage(c.schema)}).Secret(json.RawMessage(c.args)); !slices.Equal(got,
			c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatCanNotBeLookedThroughIsAllSecret(t *testing.T) {
	parts, list := strings.Repeat(`{"type":"string"},`, 1000)+`{}`, strings.Repeat(`"a",`, 1000)+`"a"`
	patterns := make([]string, 1000)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`"^(a|b)*%d":{}`, i)
	}
	for name, c := range map[string]struct{ schema, args string }{
		"many parts of a long list": {
			`{"properties":{"l":{"items":{"allOf":[` + parts + `]}}}}`, `{"l":[` + list + `]}`,
		},
		"many patterns of a long list": {
			`{"properties":{"l":{"items":{"patternProperties":{` + strings.Join(patterns, ",") + `}}}}}`,
			`{"l":[` + strings.ReplaceAll(list, `"a"`, `{"a":1}`) + `]}`,
		},
	} {
		if got := (tool.Tool{Schema: json.RawMessage(c.schema)}).Secret(json.RawMessage(c.args)); !slices.Equal(got,
			[]string{""}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
