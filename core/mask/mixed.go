package mask

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxMixed is how many words Mixed names.
const maxMixed = 3

// Mixed returns the first words of a text in which letters of another alphabet stand for ones of ASCII that they look
// like: "pаypal (а is U+0430)". A word mixes both or, as a part of an address, has only letters that look like others.
// A word of two letters may be a unit, except in the name of a host. Whole words of another alphabet, emoji and accents
// are what they seem. Escapes are no letters: that of a line's end is between two words, and that of what is invisible
// may be in one.
func Mixed(text string) (words []string) {
	if !strings.ContainsFunc(text, seemsASCII) { // nearly all texts
		return nil
	}
	text = invisible.ReplaceAllString(lineEnd.ReplaceAllString(text, " "), "")
	for _, token := range strings.Fields(text) {
		address := strings.ContainsAny(token, ".@/") && strings.ContainsFunc(token, isASCIILetter)
		names := strings.FieldsFunc(host.FindString(token), isNoPartOfWord)
		for _, word := range strings.FieldsFunc(token, isNoPartOfWord) {
			named := disguised(word, address, slices.Contains(names, word))
			if named != "" && !slices.Contains(words, named) && len(words) < maxMixed {
				words = append(words, named)
			}
		}
	}
	return words
}

func isNoPartOfWord(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// What EscapeLine and JSON, also within JSON, make of what is between words and of what is invisible; and what joins
// letters.
var (
	lineEnd   = regexp.MustCompile(`\\+[nrt]`)
	invisible = regexp.MustCompile(`\\+u[0-9a-fA-F]{4}|[\x{200c}\x{200d}\x{fe0f}]`)
)

// host matches what names a host: behind a scheme, in an address of mail, or with letters of ASCII after its last dot.
var host = regexp.MustCompile(`(?:://|@)[^/]*|^[^/]+\.[A-Za-z]{2,}"?[,;]?$`)

// disguised names a word, maybe of an address or even of its host, that is not what it seems, with the letters that are
// not; "" if it is.
func disguised(word string, address, host bool) string {
	var foreign []string
	ascii, others, letters := false, false, 0
	for _, r := range word {
		switch {
		case isASCIILetter(r):
			ascii = true
		case !unicode.IsLetter(r):
			continue
		case seemsASCII(r):
			if code := fmt.Sprintf("%c is U+%04X", r, r); !slices.Contains(foreign, code) {
				foreign = append(foreign, code)
			}
		default:
			others = true
		}
		letters++
	}
	if foreign == nil || letters < 3 && !host || !ascii && (!address || others) {
		return ""
	}
	return word + " (" + strings.Join(foreign, ", ") + ")"
}

func isASCIILetter(r rune) bool { return r <= unicode.MaxASCII && unicode.IsLetter(r) }

// seemsASCII reports whether a letter is of another alphabet and looks like one of ASCII. A Latin letter is of the same
// alphabet, unless it is a wide one.
func seemsASCII(r rune) bool {
	return r > unicode.MaxASCII && AsASCII(r) != 0 && (!unicode.Is(unicode.Latin, r) || r >= 0xff21)
}
