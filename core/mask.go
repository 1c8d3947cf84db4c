package core

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Masked replaces a secret.
const Masked = "••••••"

// secretKeys are parts of argument names whose values are hidden on cards.
var secretKeys = []string{"password", "passwd", "secret", "token", "apikey", "credential", "authorization", "privatekey", "accesskey", "cookie"}

// secretText matches tokens of well-known vendors, bearer headers and private keys inside a text.
var secretText = regexp.MustCompile(`(?s)xox[abeprs]-[\w-]+|xapp-[\w-]+|sk-[\w-]{16,}|gh[opsu]_\w{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}|\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}` +
	`|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|(?i:bearer\s+)[\w.~+/=-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)`)

// hookToken matches the token at the end of a webhook's URL.
var hookToken = regexp.MustCompile(`(/webhooks/\d+/)[\w-]{20,}`)

var urlPassword = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s@]+@`)

// MaskText hides what looks like a secret in a text.
func MaskText(s string) string {
	s = hookToken.ReplaceAllString(secretText.ReplaceAllString(s, Masked), "${1}"+Masked)
	return urlPassword.ReplaceAllString(s, "${1}"+Masked+"@")
}

// MaskJSON hides secrets in a JSON text: the values of keys that name one, and what looks like one anywhere. Numbers keep their
// digits; objects may change the order of their keys.
func MaskJSON(raw json.RawMessage) json.RawMessage {
	text, _ := maskJSON(raw)
	return text
}

// Secrets are the texts that MaskJSON hides completely, longest first.
func Secrets(raw json.RawMessage) []string {
	_, secrets := maskJSON(raw)
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

func maskJSON(raw json.RawMessage) (text json.RawMessage, secrets []string) {
	hidden := json.RawMessage(`"` + Masked + `"`)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return hidden, nil
	}
	v = maskValue(v, &secrets)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return hidden, secrets
	}
	return bytes.TrimSpace(b.Bytes()), secrets
}

func maskValue(v any, secrets *[]string) any {
	switch v := v.(type) {
	case string:
		text := MaskText(v)
		if text == Masked {
			*secrets = append(*secrets, v)
		}
		return text
	case []any:
		for i := range v {
			v[i] = maskValue(v[i], secrets)
		}
	case map[string]any:
		for key := range v {
			if secretKey(key) && !plain(v[key]) {
				*secrets = append(*secrets, textsIn(v[key])...)
				v[key] = Masked
			} else {
				v[key] = maskValue(v[key], secrets)
			}
		}
	}
	return v
}

func textsIn(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			texts = append(texts, v)
		}
	case []any:
		for _, item := range v {
			texts = append(texts, textsIn(item)...)
		}
	case map[string]any:
		for _, item := range v {
			texts = append(texts, textsIn(item)...)
		}
	}
	return texts
}

// plain reports whether a value under a key that names a secret is none: max_tokens is a number, has_password a bool.
func plain(v any) bool {
	switch v.(type) {
	case nil, bool, json.Number:
		return true
	}
	return false
}

func secretKey(key string) bool {
	key = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(key))
	return slices.ContainsFunc(secretKeys, func(s string) bool { return strings.Contains(key, s) })
}
