package core

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// masked replaces a secret.
const masked = "••••••"

// secretKeys are parts of argument names whose values are hidden on cards.
var secretKeys = []string{"password", "passwd", "secret", "token", "apikey", "credential", "authorization", "privatekey", "accesskey", "cookie"}

// secretText is what tokens of well-known makers, bearer headers, passwords in URLs and private keys look like inside a text.
var secretText = regexp.MustCompile(`(?s)xox[abeprs]-[\w-]+|xapp-[\w-]+|sk-[\w-]{16,}|gh[opsu]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}` +
	`|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|(?i:bearer\s+)[\w.~+/=-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// hookToken is what a webhook's address ends with.
var hookToken = regexp.MustCompile(`(/webhooks/\d+/)[\w-]{20,}`)

var urlPassword = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`)

// MaskText hides what looks like a secret in a text.
func MaskText(s string) string {
	s = hookToken.ReplaceAllString(secretText.ReplaceAllString(s, masked), "${1}"+masked)
	return urlPassword.ReplaceAllString(s, "${1}"+masked+"@")
}

// MaskJSON hides secrets in a JSON text: the values of keys that name one, and what looks like one anywhere. Numbers keep their
// digits; objects may change the order of their keys.
func MaskJSON(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return json.RawMessage(`"` + masked + `"`)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(maskValue(v)) != nil {
		return json.RawMessage(`"` + masked + `"`)
	}
	return bytes.TrimSpace(b.Bytes())
}

func maskValue(v any) any {
	switch v := v.(type) {
	case string:
		return MaskText(v)
	case []any:
		for i := range v {
			v[i] = maskValue(v[i])
		}
	case map[string]any:
		for key := range v {
			if secretKey(key) && !plain(v[key]) {
				v[key] = masked
			} else {
				v[key] = maskValue(v[key])
			}
		}
	}
	return v
}

// plain values under a secret-sounding key hide nothing: max_tokens is a number, has_password a bool.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, json.Number:
		return true
	}
	return false
}

func secretKey(key string) bool {
	key = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(key))
	for _, s := range secretKeys {
		if strings.Contains(key, s) {
			return true
		}
	}
	return false
}
