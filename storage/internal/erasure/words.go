// Package erasure takes what a person wrote out of stored texts: their own messages, and what others quote of them. It
// is made of pure functions; the store reads and writes the rows.
//
//	w := erasure.NewWords("slack:U1", theirTexts)
//	body, changed := w.JSON(body)            // of somebody else's message
//
// What is taken for a quotation: what a message points at, which names its author; each of the person's texts, lines
// and sentences that is long enough to be theirs alone; and each of their words that holds a digit or an @, such as a
// number or an address. What anybody may write is none: a text of fewer than four words, a date, a time, a round
// number. A quotation begins and ends where words do.
package erasure

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core"
)

// Erased stands in place of what was erased.
const Erased = "[erased]"

// What something needs to be looked for in what others wrote.
const (
	minText  = 8  // letters of a whole text, or of a word with a digit
	minPart  = 12 // letters of a line or a sentence
	minWords = 4  // words of a text, a line or a sentence in which no word is telling
)

// Words are what a person wrote, as it is looked for elsewhere.
type Words struct {
	person string
	parts  map[string][]string // by how they begin, the longest first
}

// begin is how many bytes of a part are its key in Words.parts; each part has at least as many.
const begin = minText

// NewWords takes the texts of a person, who is named by their account.
func NewWords(person string, texts []string) *Words {
	parts := map[string]bool{}
	add := func(part string, least int) {
		part = strings.TrimSpace(part)
		if utf8.RuneCountInString(part) >= least && part != Erased && isQuotation(part) {
			parts[part] = true
		}
	}
	for _, text := range texts {
		add(text, minText)
		for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r.!?", r) }) {
			add(line, minPart)
		}
		for line := range strings.Lines(text) {
			add(line, minPart)
		}
		for _, word := range strings.Fields(text) {
			if word = strings.TrimFunc(word, unicode.IsPunct); isTelling(word) {
				add(word, minText)
			}
		}
	}
	w := &Words{person: person, parts: map[string][]string{}}
	for part := range parts {
		w.add(part)
	}
	return w
}

// Exactly adds texts that are the person's even if others could have written them, such as a sentence with their name.
func (w *Words) Exactly(texts ...string) {
	for _, text := range texts {
		if len(text) >= begin {
			w.add(text)
		}
	}
}

func (w *Words) add(part string) {
	all := append(w.parts[part[:begin]], part)
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	w.parts[part[:begin]] = all
}

// isQuotation reports whether a part of a person's text is theirs, wherever it is found.
func isQuotation(part string) bool {
	words := strings.Fields(part)
	return len(words) >= minWords || slices.ContainsFunc(words, func(word string) bool {
		return isTelling(strings.TrimFunc(word, unicode.IsPunct))
	})
}

// isTelling reports whether a word holds a digit or an @, and is not what anybody may write.
func isTelling(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || r == '@' }) &&
		!common.MatchString(word)
}

// common are dates, times, years, small numbers and round ones.
var common = regexp.MustCompile(`^(` +
	`(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4})?[Tt]?(\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?)?([Zz]|[-+]\d{2}:?\d{2}|am|pm|AM|PM)?` +
	`|(19|20)\d{2}([01]\d[0-3]\d)?([Tt]\d{4,6}[Zz]?)?` +
	`|[-+]?\d{1,3}[0.,]*(\.\d{1,2})?` +
	`|\d{1,3}%|\d{1,3}(st|nd|rd|th|am|pm|h|m|s|ms|x)` +
	`)$`)

// Text is a text without what it quotes of the person.
func (w *Words) Text(text string) string {
	text = w.pointed(text)
	if len(w.parts) == 0 {
		return text
	}
	var out strings.Builder
	kept := 0 // up to where the text is in out
	for i := 0; i+begin <= len(text); {
		if part := w.at(text, i); part != "" {
			out.WriteString(text[kept:i])
			out.WriteString(Erased)
			i += len(part)
			kept = i
			continue
		}
		i++
	}
	if kept == 0 {
		return text
	}
	return out.String() + text[kept:]
}

// at is the longest part that stands at a place of a text, where a word begins and to where a word ends.
func (w *Words) at(text string, i int) string {
	for _, part := range w.parts[text[i:i+begin]] {
		if !strings.HasPrefix(text[i:], part) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		first, _ := utf8.DecodeRuneInString(part)
		last, _ := utf8.DecodeLastRuneInString(part)
		after, _ := utf8.DecodeRuneInString(text[i+len(part):])
		if (!isWord(before) || !isWord(first)) && (!isWord(last) || !isWord(after)) {
			return part
		}
	}
	return ""
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_')
}

// JSON is a JSON text without what its strings quote of the person, at any depth; keys, and everything else, stay byte
// for byte. What is not JSON is a plain text.
func (w *Words) JSON(raw []byte) (erased []byte, changed bool) {
	return w.json(raw, func([]string) bool { return true })
}

// Fields is JSON for what has ids beside its texts, such as an event as its platform sent it: only members that bear
// text are changed.
func (w *Words) Fields(raw []byte) (erased []byte, changed bool) { return w.json(raw, bearsText) }

func (w *Words) json(raw []byte, bears func(keys []string) bool) (erased []byte, changed bool) {
	if !json.Valid(raw) {
		text := w.Text(string(raw))
		return []byte(text), text != string(raw)
	}
	out := values(raw, func(keys []string, s string) string {
		if !bears(keys) {
			return s
		}
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if inner, changed := w.JSON([]byte(s)); changed && json.Valid([]byte(s)) {
				return string(inner)
			}
		}
		return w.Text(s)
	})
	return out, !bytes.Equal(out, raw)
}

// What bears text: members of these names, and everything in the second ones.
var (
	textual = []string{
		"text", "content", "thinking", "title", "fallback", "pretext", "description", "message", "summary", "caption",
		"value", "reason", "body", "markdown", "html", "plain_text", "label", "hint", "result", "answer", "error",
		"query", "snippet", "topic", "purpose", "changed", "dropped", "before", "prompt", "output",
	}
	whole = []string{"arguments", "structuredcontent", "structured_content"}
)

func bearsText(keys []string) bool {
	if len(keys) == 0 || slices.Contains(textual, strings.ToLower(keys[len(keys)-1])) {
		return true
	}
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(whole, strings.ToLower(key)) })
}

// values is a JSON text with its strings replaced, but not its keys; everything else stays byte for byte. replace is
// told the keys of the objects that a string is in, the innermost last.
func values(raw []byte, replace func(keys []string, s string) string) []byte {
	var out []byte
	var keys []string   // of the objects that are open
	var inObject []bool // of each object or list that is open
	for i := 0; i < len(raw); {
		switch raw[i] {
		case '{':
			keys, inObject = append(keys, ""), append(inObject, true)
		case '[':
			inObject = append(inObject, false)
		case '}', ']':
			if inObject[len(inObject)-1] {
				keys = keys[:len(keys)-1]
			}
			inObject = inObject[:len(inObject)-1]
		}
		if raw[i] != '"' {
			out = append(out, raw[i])
			i++
			continue
		}
		end := i + 1
		for ; end < len(raw) && raw[end] != '"'; end++ {
			if raw[end] == '\\' {
				end++
			}
		}
		end = min(end+1, len(raw))
		token := raw[i:end]
		i = end
		var text string
		if json.Unmarshal(token, &text) != nil {
			out = append(out, token...)
			continue
		}
		if bytes.HasPrefix(bytes.TrimLeft(raw[end:], " \t\r\n"), []byte(":")) {
			keys[len(keys)-1] = text
		} else if replaced := replace(keys, text); replaced != text {
			token, _ = json.Marshal(replaced) // a string can be encoded
		}
		out = append(out, token...)
	}
	return out
}

// pointed erases the quotations of the person that a message points at, and their name where they speak; see core.Quote
// and core.Said.
func (w *Words) pointed(text string) string {
	if !strings.Contains(text, w.person) {
		return text
	}
	var out []string
	skip := "" // what lines begin with that are left out
	inFile := false
	for line := range strings.SplitSeq(text, "\n") {
		if inFile {
			inFile = !strings.HasPrefix(line, "[end of file ")
			continue
		}
		if skip != "" && strings.HasPrefix(line, skip) {
			continue
		}
		skip = ""
		label, kind := line, ""
		for _, k := range []string{" wrote:", " contains:", " says:"} {
			if l, ok := strings.CutSuffix(line, k); ok {
				label, kind = l, k
			}
		}
		var q core.Quotation
		if kind == "" || json.Unmarshal([]byte(label), &q) != nil || q.ID != w.person {
			out = append(out, line)
			continue
		}
		if kind == " says:" {
			said := core.Said(core.Speaker{ID: w.person}, "", nil)
			out = append(out, said.Blocks()[0].Text)
			continue
		}
		q.Name, q.Text, q.File, q.End = "", Erased, "", ""
		out = append(out, core.Quote(q).Text)
		skip, inFile = "> ", kind == " contains:"
	}
	return strings.Join(out, "\n")
}

// Texts are the texts of a message as a platform sent it: what its fields text and content hold, at any depth.
func Texts(payload []byte) []string {
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for key, one := range v {
				if text, ok := one.(string); ok && (key == "text" || key == "content") {
					all = append(all, text)
				}
				walk(one)
			}
		}
	}
	var v any
	if json.Unmarshal(payload, &v) == nil {
		walk(v)
	}
	return all
}

// Strings are all texts of a JSON text, but no keys.
func Strings(raw []byte) (all []string) {
	if json.Valid(raw) {
		values(raw, func(_ []string, text string) string {
			all = append(all, text)
			return text
		})
	}
	return all
}
