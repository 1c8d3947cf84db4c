package hrf

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var ignored = strings.NewReplacer("_", "", "-", "", " ", "")

// likeness is the same for names that differ only in case and in the marks between words, such as content_type and
// contentType.
func likeness(name string) string { return strings.ToLower(ignored.Replace(name)) }

// closest returns the name that one was probably meant to be; "" if there is none.
func closest(written string, names []string) string {
	for _, name := range names {
		if likeness(written) == likeness(name) {
			return name
		}
	}
	return ""
}

// suggest is the hint for an unknown name: the one that was probably meant, or else another hint.
func suggest(written string, names []string, otherwise string) string {
	if name := closest(written, names); name != "" {
		return "did you mean " + name + "?"
	}
	return otherwise
}

// oneOf is the hint to write one of several names.
func oneOf(names []string) string {
	last := len(names) - 1
	return "write " + strings.Join(names[:last], ", ") + " or " + names[last]
}

// quoteLimit is how many bytes of a text a message quotes.
const quoteLimit = 60

// quote quotes a text in a message; a long one is cut.
func quote(text string) string {
	if len(text) <= quoteLimit {
		return strconv.Quote(text)
	}
	end := quoteLimit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strconv.Quote(text[:end]) + "…"
}
