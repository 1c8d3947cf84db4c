package mask

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// secretForm is the form of a secret.
type secretForm struct {
	parts   string            // one of these words is in whatever matches: most texts have none
	pattern *regexp.Regexp    // its first group is the secret
	valid   func(string) bool // nil: whatever matches is one
	card    func(string) bool // what a card masks of them; see Shown. nil: allRandom
}

// find is where the form is in a text, as regexp's FindAllStringSubmatchIndex says it.
func (f secretForm) find(text string) [][]int {
	for part := range strings.FieldsSeq(f.parts) {
		if strings.Contains(text, part) {
			return f.pattern.FindAllStringSubmatchIndex(text, -1)
		}
	}
	return nil
}

// onCard reports whether a card masks a secret.
func (f secretForm) onCard(secret string) bool {
	if f.card == nil {
		return allRandom(secret)
	}
	return f.card(secret)
}

// secretForms are the forms of the secrets that vendors issue. Each is closed: an alphabet and a length, or an end, so
// that nothing can be hidden behind the beginning of a secret. They are compiled when they are first needed.
var secretForms = sync.OnceValue(func() []secretForm {
	return []secretForm{
		// A private key in PEM: lines of base64 and its end. In JSON text its line ends may be escaped.
		{"-----BEGIN", regexp.MustCompile(
			`(-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:\r?\n|\\n)` +
				`(?:[A-Za-z-]{1,20}: [A-Za-z0-9,-]{1,80}(?:\r?\n|\\n)|\r?\n|\\n)*` +
				`(?:[A-Za-z0-9+/]{60,76}(?:\r?\n|\\n))*[A-Za-z0-9+/=]{1,76}(?:\r?\n|\\n)` +
				`-----END [A-Z ]{0,20}PRIVATE KEY-----)`),
			nil, ofKey},
		// Slack: bot, user and app tokens, and the older kinds.
		{"xox", regexp.MustCompile(`\b(xox[bp]-\d{8,14}-\d{8,14}(?:-\d{8,14})?-[0-9A-Za-z]{24,32})\b`), nil, nil},
		{"xapp-", regexp.MustCompile(`\b(xapp-\d-[A-Z0-9]{8,14}-\d{8,16}-[0-9a-f]{64})\b`), nil, nil},
		{"xox", regexp.MustCompile(`\b(xox[aers](?:\.xox[bp])?-[0-9A-Za-z-]{24,250})`), random, nil},
		// OpenAI, Anthropic and those that are compatible with OpenAI.
		{"sk-", regexp.MustCompile(`\b(sk-[0-9a-f]{32})\b`), nil, nil},
		{"sk-", regexp.MustCompile(`\b(sk-[A-Za-z0-9]{48})\b`), random, nil},
		{"sk-", regexp.MustCompile(`\b(sk-(?:proj|svcacct|admin|ant)-[\w-]{40,200})`), random, nil},
		{"sk-or-", regexp.MustCompile(`\b(sk-or-v1-[0-9a-f]{64})\b`), nil, nil},
		// Stripe, Google, GitLab.
		{"k_live_ k_test_", regexp.MustCompile(`\b([rs]k_(?:live|test)_[0-9A-Za-z]{24,99})\b`), random, nil},
		{"AIza", regexp.MustCompile(`\b(AIza[\w-]{35})`), random, nil},
		{"glpat-", regexp.MustCompile(`\b(glpat-[\w-]{20})`), random, nil},
		// GitHub.
		{"gho_ ghp_ ghr_ ghs_ ghu_", regexp.MustCompile(`\b(gh[oprsu]_[A-Za-z0-9]{36})\b`), random, nil},
		{"github_pat_", regexp.MustCompile(`\b(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b`), random, nil},
		// Amazon's key ids.
		{"AKIA ASIA", regexp.MustCompile(`\b((?:AKIA|ASIA)[0-9A-Z]{16})\b`), nil, nil},
		// Discord: tokens of bots and of webhooks.
		{".", regexp.MustCompile(`\b([MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})\b`), random, nil},
		{"/webhooks/", regexp.MustCompile(`/webhooks/\d{10,20}/([\w-]{60,90})`), random, nil},
		// JSON Web Tokens, and what follows Bearer.
		{"eyJ", regexp.MustCompile(`\b(eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{20,700})`), webToken, nil},
		{"earer", regexp.MustCompile(`\b[Bb]earer ([\w.~+/=-]{20,500})`), mixed, nil},
		// Passwords in URLs.
		{"://", regexp.MustCompile(`://[^/\s:@]{0,256}:([^/\s@]{1,256})@`), nil, unreserved.MatchString},
	}
})

// issued are the beginnings of tokens that say whose they are.
var issued = regexp.MustCompile(
	`^(?:xox[a-z](?:\.xox[bp])?|xapp-\d|sk-or-v1|sk-(?:proj|svcacct|admin|ant)|sk|[rs]k_(?:live|test)|glpat|` +
		`gh[oprsu]|github_pat)[-_]`)

// allRandom reports whether nobody could read any part of a token as a word. Cards mask only such tokens: what is a
// word might be run.
func allRandom(token string) bool {
	parts := strings.FieldsFunc(token[len(issued.FindString(token)):], func(r rune) bool {
		return strings.ContainsRune("-_.~+/=", r)
	})
	return !slices.ContainsFunc(parts, wordy)
}

// ofKey reports whether the lines of a private key could not be commands: base64 of more than some characters has
// digits.
func ofKey(pem string) bool {
	lines := strings.Fields(strings.ReplaceAll(armor.ReplaceAllString(pem, ""), `\n`, "\n"))
	return !slices.ContainsFunc(lines, func(line string) bool {
		return len(strings.TrimRight(line, "=")) > 3 && !mixed(line)
	})
}

var (
	armor      = regexp.MustCompile(`-----[^-]*-----`)
	unreserved = regexp.MustCompile(`^(?:[\w.~-]|%[0-9A-Fa-f]{2})*$`)
	words      = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
)

// longWord is how many letters in a row, of one case but for a capital at the beginning, are not random.
const longWord = 12

// wordy reports whether a part of a token, of more than one character, is a word, or has a long one in it.
func wordy(part string) bool {
	return len(part) > 1 && slices.ContainsFunc(words.FindAllString(part, -1), func(word string) bool {
		return len(word) >= longWord || len(word) == len(part)
	})
}

// random reports whether a text looks as if a machine had made it, and not like words: it has digits and both small and
// capital letters.
func random(s string) bool {
	return mixed(s) && strings.ContainsFunc(s, unicode.IsLower) && strings.ContainsFunc(s, unicode.IsUpper)
}

// mixed reports whether a text has digits and letters.
func mixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter)
}

// webToken reports whether a text is a JSON Web Token: two JSON objects and a signature, or the first of them would be
// words.
func webToken(s string) bool {
	parts := strings.Split(s, ".")
	for _, part := range parts[:2] {
		var object map[string]any
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || json.Unmarshal(raw, &object) != nil {
			return false
		}
	}
	return true
}
