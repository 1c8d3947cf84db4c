package mcp

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReferencesOfASchemaLeadToItsOwnParts(t *testing.T) {
	for schema, want := range map[string]string{
		`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"next":{"$ref":"#"}}}}}`:                       "",
		`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`:                                            "only references to its own parts",
		`{"properties":{"a":{"$ref":"#a"}},"$defs":{"a":{"$anchor":"a"}}}`:                              "only references to its own parts",
		`{"properties":{"a":{"$dynamicRef":"#/a"}}}`:                                                    "only references to its own parts",
		`{"properties":{"a":{"$recursiveRef":"#"}}}`:                                                    "only references to its own parts",
		`{"properties":` + strings.Repeat(`{"a":{"items":`, 40) + `{}` + strings.Repeat(`}}`, 40) + `}`: "more than 64 levels",
	} {
		var v any
		if err := json.Unmarshal([]byte(schema), &v); err != nil {
			t.Fatal(err)
		}
		_, err := schemaView{func(text string) string { return text }}.of(v, 0)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", schema, err)
		}
	}
	view, err := schemaView{func(text string) string { return text }}.of(map[string]any{
		"$id": "urn:a", "properties": map[string]any{"id": map[string]any{"$id": "urn:b", "type": "string"}, "$ref": map[string]any{"type": "string"}},
	}, 0)
	if text, _ := json.Marshal(view); err != nil || string(text) != `{"properties":{"$ref":{"type":"string"},"id":{"type":"string"}}}` {
		t.Errorf("%s, %v", text, err)
	}
}
