package mask

import (
	"slices"
	"strings"
	"unicode"
)

// secretNames are the last words of keys whose values are secrets.
var secretNames = []string{
	"password", "passwd", "pwd", "passcode", "passphrase", "pin", "jwt", "secret", "token", "apikey", "credential",
	"authorization", "privatekey", "accesskey", "secretkey", "cookie",
}

// secretEnds end a single word that names a secret, such as PGPASSWORD.
var secretEnds = []string{"password", "passwd", "passphrase", "secret", "token", "apikey"}

// settingNames are further last words of settings whose values are secrets. They say too little of an argument of a
// tool, which may well have a key or a signature that is none.
var settingNames = []string{
	"key", "keybase", "authkey", "pass", "dbpass", "sshpass", "auth", "sig", "signature", "pat", "otp", "cred",
	"bearer", "sas",
	"mnemonic", "seedphrase", "pw", "userpass", "rootpass",
}

// openKeys are what comes before the word key in names of settings that are no secrets.
var openKeys = []string{
	"public", "publishable", "project", "issue", "space", "board", "primary", "foreign", "sort", "partition", "cache",
	"object",
	"group", "index", "idempotency",
}

// whichOnes are words behind the name of a secret that say which one it is.
var whichOnes = []string{
	"value", "base64", "b64", "prod", "production", "dev", "staging", "stage", "test", "live", "old", "new", "default",
	"primary", "secondary",
}

// namesSecret reports whether a key names a secret: token, api_key, userPassword, but not token_count or tokenizer.
func namesSecret(key string) bool { return endsIn(wordsOf(key), secretNames) }

// Names reports whether the name of a setting (a variable, a header, a flag, a parameter of a URL) says that its value
// is a secret: what a key of any JSON says, and more.
func Names(setting string) bool {
	words := wordsOf(setting)
	for len(words) > 1 &&
		(slices.Contains(whichOnes, words[len(words)-1]) || strings.Trim(words[len(words)-1], "v0123456789") == "") {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last := len(words) - 1
	words[last] = strings.TrimRight(words[last], "0123456789")
	open := last > 0 && strings.HasPrefix(words[last], "key") && slices.Contains(openKeys, words[last-1])
	return endsIn(words, secretNames) || !open && endsIn(words, settingNames)
}

// endsIn reports whether the last one or two words are one of these names, or its plural, or the last word ends in a
// name that nothing else ends in.
func endsIn(words, names []string) bool {
	for n := 1; n <= min(2, len(words)); n++ {
		name := strings.Join(words[len(words)-n:], "")
		one := strings.TrimSuffix(name, "s")
		ends := func(end string) bool { return strings.HasSuffix(one, end) }
		if slices.Contains(names, name) || slices.Contains(names, one) || slices.ContainsFunc(secretEnds, ends) {
			return true
		}
	}
	return false
}

// identities are last words of settings that name a thing.
var identities = []string{
	"id", "ids", "uuid", "guid", "sha", "commit", "hash", "digest", "checksum", "fingerprint", "version", "arn",
	"account", "database",
	"base", "table", "page", "board", "folder", "sheet", "spreadsheet", "tag", "ref", "release", "project", "workspace",
	"bucket", "cluster", "image",
}

// identifies reports whether the name of a setting says that its value only looks as if a machine had made it.
func identifies(setting string) bool {
	words := wordsOf(setting)
	return len(words) > 0 && slices.Contains(identities, words[len(words)-1])
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
