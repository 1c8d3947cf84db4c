package core_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
)

func TestLaw8_SecretsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		`{"password":"hunter2","user":"ann"}`:                  `{"password":"••••••","user":"ann"}`,
		`{"a":{"API-Key":"x","max_tokens":5,"hasToken":true}}`: `{"a":{"API-Key":"••••••","hasToken":true,"max_tokens":5}}`,
		`["Bearer abcdefghijk","plain <b>"]`:                   `["••••••","plain <b>"]`,
		`{"cmd":"curl -H 'x' https://u:pw@host/ xoxb-1-abc"}`:  `{"cmd":"curl -H 'x' https://u:••••••@host/ ••••••"}`,
		`{"n":1.50,"secret":{"deep":["x"]}}`:                   `{"n":1.50,"secret":"••••••"}`,
		`not json`:                                             `"••••••"`,
	} {
		if got := string(core.MaskJSON(json.RawMessage(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
