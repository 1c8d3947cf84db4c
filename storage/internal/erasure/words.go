// Package erasure takes what a person wrote out of stored texts: their own messages, and what others quote of them. It
// is made of pure functions; the store reads and writes the rows.
//
//	w := erasure.NewWords("slack:U1", theirTexts)
//	body, changed := w.JSON(body)            // of somebody else's message
//
// What is taken for a quotation: what a message points at, which names its author; each of the person's texts, lines
// and sentences that is long enough to be theirs alone; and each of their words that holds a digit or an @, such as a
// number or an address. It rather takes too much than too little.
package erasure

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core"
)

// Erased stands in place of what was erased.
const Erased = "[erased]"

// How many letters something needs to be looked for in what others wrote.
const (
	minText = 8  // a whole text, or a word with a digit
	minPart = 12 // a line or a sentence
)

// Words are what a person wrote, as it is looked for elsewhere.
type Words struct {
	person   string
	replacer *strings.Replacer // nil: nothing is looked for
}

// NewWords takes the texts of a person, who is named by their account.
func NewWords(person string, texts []string) *Words {
	parts := map[string]bool{}
	add := func(part string, least int) {
		if part = strings.TrimSpace(part); utf8.RuneCountInString(part) >= least && part != Erased {
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
			word = strings.TrimFunc(word, unicode.IsPunct)
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsDigit(r) || r == '@' }) {
				add(word, minText)
			}
		}
	}
	w := &Words{person: person}
	if len(parts) == 0 {
		return w
	}
	var pairs []string
	longest := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) }
	for _, part := range slices.SortedFunc(func(yield func(string) bool) {
		for part := range parts {
			if !yield(part) {
				return
			}
		}
	}, longest) {
		pairs = append(pairs, part, Erased)
	}
	w.replacer = strings.NewReplacer(pairs...)
	return w
}

// Text is a text without what it quotes of the person.
func (w *Words) Text(text string) string {
	text = w.pointed(text)
	if w.replacer == nil {
		return text
	}
	return w.replacer.Replace(text)
}

// JSON is a JSON text without what its strings quote of the person, at any depth; everything else stays byte for byte.
// What is not JSON is a plain text.
func (w *Words) JSON(raw []byte) (erased []byte, changed bool) {
	if !json.Valid(raw) {
		text := w.Text(string(raw))
		return []byte(text), text != string(raw)
	}
	out := Strings(raw, func(s string) string {
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if inner, changed := w.JSON([]byte(s)); changed && json.Valid([]byte(s)) {
				return string(inner)
			}
		}
		return w.Text(s)
	})
	return out, !bytes.Equal(out, raw)
}

// Strings is a JSON text with its strings replaced, keys among them; everything else stays byte for byte.
func Strings(raw []byte, replace func(string) string) []byte {
	var out []byte
	for i := 0; i < len(raw); {
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
		var text string
		if json.Unmarshal(token, &text) == nil {
			if replaced := replace(text); replaced != text {
				token, _ = json.Marshal(replaced) // a string can be encoded
			}
		}
		out, i = append(out, token...), end
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
