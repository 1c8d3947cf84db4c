package mask

import (
	"slices"
	"strings"
	"unicode"
)

// secretNames are the last words of keys whose values are secrets.
var secretNames = []string{"password", "passwd", "pwd", "passcode", "passphrase", "pin", "jwt", "secret", "token", "apikey", "credential", "authorization", "privatekey", "accesskey", "secretkey", "cookie"}

// namesSecret reports whether a key names a secret: token, api_key, userPassword, but not token_count or tokenizer.
func namesSecret(key string) bool {
	words := wordsOf(key)
	for n := 1; n <= min(2, len(words)); n++ {
		if slices.Contains(secretNames, strings.TrimSuffix(strings.Join(words[len(words)-n:], ""), "s")) {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a key in lower case: those of apiKey, api-key and API_KEY are api and key.
func wordsOf(key string) []string {
	var b strings.Builder
	lower := false
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return strings.Fields(b.String())
}
