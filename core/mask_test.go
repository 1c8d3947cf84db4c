package core_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
)

// botToken and hook have the form of a bot's token and of a webhook's: three words of base64, and a long one.
var botToken, hook = "MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".GaBcDe." + strings.Repeat("x_-9", 9) + "ab", strings.Repeat("Ab-_", 17)

func TestLaw8_SecretsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		`{"password":"hunter2","user":"ann"}`:                  `{"password":"••••••","user":"ann"}`,
		`{"a":{"API-Key":"x","max_tokens":5,"hasToken":true}}`: `{"a":{"API-Key":"••••••","hasToken":true,"max_tokens":5}}`,
		`["Bearer abcdefghijk","plain <b>"]`:                   `["••••••","plain <b>"]`,
		`{"cmd":"curl -H 'x' https://u:pw@host/ xoxb-1-abc"}`:  `{"cmd":"curl -H 'x' https://u:••••••@host/ ••••••"}`,
		`{"n":1.50,"secret":{"deep":["x"]}}`:                   `{"n":1.50,"secret":"••••••"}`,
		`{"run":"bot ` + botToken + `, then 1.2.3"}`:           `{"run":"bot ••••••, then 1.2.3"}`,
		`["/api/webhooks/1234567890/` + hook + `"]`:            `["/api/webhooks/1234567890/••••••"]`,
		`not json`: `"••••••"`,
	} {
		if got := string(core.MaskJSON(json.RawMessage(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
