package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/core/strictjson"
)

// maxSaid is how long an argument may be, in bytes, for a sentence to say it whole.
const maxSaid = 100

// Says reports whether a sentence that holds the named arguments as they are says all of a call's, so that nobody need
// read them beside it. Each has to be short and on one line, must not be taken for another value (the text 5 for a
// number, (none) for one that is missing), and is one word unless the sentence quotes it: more words of a model could
// go on as the sentence's own. It has no letter that could change the order in which the sentence is shown, and no sign
// that could end the sentence's quotation.
func Says(args json.RawMessage, named, quoted []string) bool {
	v, err := strictjson.Parse(args)
	if err != nil || v.Kind != strictjson.Object || len(v.Members) == 0 {
		return false
	}
	return !slices.ContainsFunc(v.Members, func(m strictjson.Member) bool {
		return !slices.Contains(named, m.Key) || !sayable(m.Value, slices.Contains(quoted, m.Key))
	})
}

func sayable(v *strictjson.Value, quoted bool) bool {
	s := v.String
	switch v.Kind {
	case strictjson.Bool:
		return true
	case strictjson.Number:
		return len(v.Number) <= maxSaid
	case strictjson.String:
		words := strings.Fields(s)
		return (quoted && len(words) > 0 || len(words) == 1 && isWord(s)) && strings.Join(words, " ") == s &&
			len(s) <= maxSaid &&
			!strings.ContainsFunc(s, misread) && s != "(none)" && !json.Valid([]byte(s))
	}
	return false
}

// isWord reports whether a text does not go on with what stands before it, as 000 does with a number.
func isWord(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(first) || strings.ContainsRune("@#/", first)
}

// misread reports whether a character may be anything but what it looks like: it is neither ASCII, but for quotes, nor
// a letter of a script that is written from left to right and joins nothing.
func misread(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' ' || strings.ContainsRune("\"'`", r)
	}
	return !unicode.IsLetter(r) || unicode.Is(unicode.Lm, r) ||
		!unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Hangul) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
