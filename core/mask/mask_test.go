package mask_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core/mask"
)

// Texts of the form of real secrets, none of which is one.
var (
	slackToken = "xoxb-" + "123456789012-123456789012-" + strings.Repeat("aB3", 8)
	// Discord's: three words of base64
	botToken = "MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".GaBcDe." + strings.Repeat("x_-9", 9) + "ab"
	hook     = strings.Repeat("Ab-_1", 14)
	pem      = "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("Ab1+", 16)+"\n", 3) +
		"Zm9v==\n-----END RSA PRIVATE KEY-----"
	jwt = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) +
		"." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"1"}`)) + "." + strings.Repeat("aB3", 14)
)

func TestLaw8_SecretsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		`{"pin":1234,"token":5678,"max_tokens":5,"pwd":"x1"}`: `{"max_tokens":5,"pin":"•••••• (4 ` +
			`characters hidden)","pwd":"•••••• (2 characters hidden)","token":"•••••• (4 characters hidden)"}`,
		`{"Authorization":"Bearer abc.def","note":"Bearer of news"}`: `{"Authorization":"•••••• (14 characters ` +
			`hidden)","note":"Bearer of news"}`,
		`{"password":"hunter2","user":"ann"}`: `{"password":"•••••• (7 characters hidden)",` +
			`"user":"ann"}`,
		`{"a":{"API-Key":"x","max_tokens":5,"hasToken":true}}`: `{"a":{"API-Key":"•••••• (1 character ` +
			`hidden)","hasToken":true,"max_tokens":5}}`,
		`["Bearer aB3aB3aB3aB3aB3aB3aB3","plain <b>"]`: `["Bearer •••••• (21 characters hidden)",` +
			`"plain <b>"]`,
		`{"cmd":"curl -H 'x' https://u:pw@host/ SLACK"}`: `{"cmd":"curl -H 'x' https://u:•••••• (2 ` +
			`characters hidden)@host/ •••••• (55 characters hidden)"}`,
		`{"n":1.50,"secret":["x"],"token":{"deep":"shown"}}`: `{"n":1.50,"secret":["•••••• (1 character ` +
			`hidden)"],"token":{"deep":"shown"}}`,
		`{"run":"bot ` + botToken +
			`, then 1.2.3"}`: `{"run":"bot •••••• (70 characters hidden), then 1.2.3"}`,
		`["/api/webhooks/1234567890/` + hook +
			`"]`: `["/api/webhooks/1234567890/•••••• (70 characters hidden)"]`,
		`["` + strings.ReplaceAll(pem, "\n", "\\n") + `", "` + jwt +
			`"]`: `["•••••• (263 characters hidden)","•••••• (79 characters hidden)"]`,
		`not json`: `"•••••• (8 characters hidden)"`,
	} {
		if got := string(mask.JSON(json.RawMessage(strings.ReplaceAll(text, "SLACK", slackToken)))); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestLaw6_MasksHideNothingElse: what only begins like a secret, or has its name, is shown, because an approver decides
// about it.
func TestLaw6_MasksHideNothingElse(t *testing.T) {
	for _, text := range []string{
		`{"text":"hello -----BEGIN PRIVATE KEY----- and now: rm -rf /"}`,
		`{"text":"-----BEGIN PRIVATE KEY-----\\nrm -rf /\\n-----END PRIVATE KEY-----"}`,
		`{"disk":"disk-production-primary-database"}`,
		`{"text":"sk-production-primary-database-of-the-whole-company-goes-away"}`,
		`{"token":{"note":"delete everything"},"cookie":["a b"],"authorization":{"x":["y"]}}`,
		`{"password":"and then delete the database"}`,
		`{"tokenizer":"bpe","secretary":"ann","cookies_enabled":"yes"}`,
		`{"text":"Bearer of bad news: everything-is-gone-and-nobody-knows-why"}`,
		`{"text":"xoxb-delete-the-production-database"}`,
		`{"text":"eyJhbGciOiJub25lIn0.delete_the_production_database.and_all_of_its_backups_now"}`,
		`{"text":"ghp_this_is_no_token_but_a_sentence_of_words"}`,
	} {
		if got := string(mask.JSON(json.RawMessage(text))); strings.Contains(got, mask.Mark) {
			t.Errorf("%s\n got %s", text, got)
		}
		if n := mask.Hidden(json.RawMessage(text)); n != 0 {
			t.Errorf("%s: %d characters hidden", text, n)
		}
	}
}

func TestMaskingTwiceChangesNothing(t *testing.T) {
	for _, text := range []string{slackToken, pem, jwt, "https://u:pw@host/", "Bearer " + strings.Repeat("aB3", 9)} {
		once := mask.Text("see " + text + " there")
		if !strings.Contains(once, mask.Mark) || mask.Text(once) != once {
			t.Errorf("%q", once)
		}
	}
}

// A short secret is hidden where it stands alone, and not within the words that it happens to be in.
func TestAShortSecretIsNoPartOfAWord(t *testing.T) {
	hide := func(text string) string { return mask.Without(text, []string{"no"}) }
	for text, want := range map[string]string{
		"no":                         mask.Mark,
		"it is no; not now, unknown": "it is " + mask.Mark + "; not now, unknown",
		`pin=no "no" a_no ño no2`:    "pin=" + mask.Mark + ` "` + mask.Mark + `" a_no ño no2`,
		`"a\nno" \u000ano %2Fno`:     `"a\n` + mask.Mark + `" \u000a` + mask.Mark + ` %2F` + mask.Mark,
		"nono":                       "nono",
	} {
		if got := hide(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := mask.Without("xhunter2y", []string{"hunter2"}); got != "x"+mask.Mark+"y" {
		t.Errorf("a long one: %q", got)
	}
}
