package mask

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// JSON hides secrets in a JSON text: the values at these JSON pointers, whatever they are, numbers and strings of one
// word under a key that names a secret, and what has the form of one anywhere. Other numbers keep their digits; objects
// may change the order of their keys. A text that is no JSON is hidden whole.
func JSON(raw json.RawMessage, secret ...string) json.RawMessage {
	return maskJSON(raw, secret, false).text
}

// Shown is JSON for people who decide whether it will run: what might do something is not masked, even where a secret
// could be. A token is masked only if all of its parts are random, a password in a URL only if a shell would read
// nothing in it, and a value under a key that names a secret only if it contains no command.
func Shown(raw json.RawMessage, secret ...string) json.RawMessage {
	return maskJSON(raw, secret, true).text
}

// Hidden returns how many characters Shown hides.
func Hidden(raw json.RawMessage, secret ...string) int { return maskJSON(raw, secret, true).hidden }

// Secrets are all texts at these JSON pointers, those under keys that name a secret, whatever their form, and those
// that are one by their form, longest first. Nobody decides about what is removed by them.
func Secrets(raw json.RawMessage, secret ...string) []string {
	m := maskJSON(raw, secret, false)
	all := slices.Concat(m.hides, m.below)
	longestFirst(all)
	return all
}

func longestFirst(texts []string) {
	slices.SortStableFunc(texts, func(a, b string) int { return len(b) - len(a) })
}

// maskedJSON is the result of masking a JSON text.
type maskedJSON struct {
	text   json.RawMessage
	hidden int             // how many characters the masks hide
	hides  []string        // the texts and numbers that are hidden whole
	below  []string        // texts that are shown, under a key that names a secret
	secret map[string]bool // pointers to values that are hidden
	card   bool
}

func maskJSON(raw json.RawMessage, secret []string, card bool) maskedJSON {
	m := maskedJSON{secret: map[string]bool{}, card: card}
	for _, pointer := range secret {
		m.secret[pointer] = true
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		v = m.hide(string(raw))
	} else {
		v = m.value(v, place{})
	}
	m.text = compact(v)
	return m
}

// compact returns a value that was decoded from JSON, as JSON.
func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // was decoded from JSON: can't fail
	return bytes.TrimSpace(b.Bytes())
}

// place is where a value is. named tells that its own key names a secret, below that a key above it does.
type place struct {
	pointer      string
	named, below bool
}

func (p place) step(key string) place {
	p.pointer += "/" + pointerEscape.Replace(key)
	return p
}

// pointerEscape escapes a key for a JSON pointer.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func (m *maskedJSON) value(v any, at place) any {
	if m.secret[at.pointer] && v != nil && v != "" {
		return m.hideValue(v)
	}
	switch v := v.(type) {
	case string:
		if at.named && oneWord(v) && (!m.card || !command.MatchString(v)) {
			return m.hide(v)
		}
		text, hidden := hideIn(v, m.card)
		if text == marked(v) {
			return m.hide(v)
		}
		if at.below && v != "" {
			m.below = append(m.below, v)
		}
		m.hidden += hidden
		return text
	case json.Number:
		if at.named && !strings.HasSuffix(strings.ToLower(at.pointer), "tokens") { // of which it is the number
			return m.hideValue(v)
		}
	case []any:
		for i := range v {
			v[i] = m.value(v[i], at.step(strconv.Itoa(i)))
		}
	case map[string]any:
		for key := range v {
			to := at.step(key)
			to.named = namesSecret(key)
			to.below = at.below || to.named
			v[key] = m.value(v[key], to)
		}
	}
	return v
}

// command matches the beginning of what a shell replaces: a command, or a variable such as the one for a space.
var command = regexp.MustCompile("`|\\$[({]")

// hideValue hides a value of any type. The mask of what is no text counts the characters of its JSON.
func (m *maskedJSON) hideValue(v any) string {
	if s, ok := v.(string); ok {
		return m.hide(s)
	}
	m.leaves(v)
	text := string(compact(v))
	m.hidden += utf8.RuneCountInString(text)
	return marked(text)
}

// leaves notes the texts and numbers in a value that is hidden.
func (m *maskedJSON) leaves(v any) {
	switch v := v.(type) {
	case string:
		m.hides = append(m.hides, v)
	case json.Number:
		m.hides = append(m.hides, v.String())
	case []any:
		for _, item := range v {
			m.leaves(item)
		}
	case map[string]any:
		for _, item := range v {
			m.leaves(item)
		}
	}
}

func (m *maskedJSON) hide(secret string) string {
	m.hidden += utf8.RuneCountInString(secret)
	m.hides = append(m.hides, secret)
	return marked(secret)
}

// maxWord is the longest word that is hidden because of its key, in bytes.
const maxWord = 512

// oneWord reports whether a text can be a password: text with spaces, or very long text, is more likely something that
// an approver must read. The word that says what kind of a credential follows does not count.
func oneWord(s string) bool {
	if kind, credential, two := strings.Cut(s, " "); two &&
		slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(kind)) {
		s = credential
	}
	return s != "" && len(s) <= maxWord && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
}
