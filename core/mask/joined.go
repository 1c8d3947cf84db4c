package mask

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// What has no picture of its own, but joins or shapes what stands beside it.
const (
	nonJoiner = '\u200c' // keeps two letters apart that would join
	joiner    = '\u200d' // makes one emoji of several, or the half form of a letter
	pictures  = '\ufe0f' // makes a picture of the character before it
)

// joined reports for each character of a text whether it is one that joins or shapes what stands beside it, where
// Unicode has a use for it: it can be seen by what it does. nil: there is none.
//
// A joiner stands in an emoji of several (RGI emoji ZWJ sequences) or after a virama, a non-joiner after a virama or
// between letters that would join (RFC 5892, A.1 and A.2), U+FE0F after a character that it makes a picture of. What
// stands between them is seen itself, so that this holds of what is left after all others were escaped, too.
func joined(all []rune) []bool {
	if !slices.ContainsFunc(all, joins) {
		return nil
	}
	seen := make([]bool, len(all))
	for i, r := range all[1:] {
		switch before := all[i]; r {
		case pictures:
			seen[i+1] = sets().pictured[before]
		case joiner:
			seen[i+1] = in(viramas, before)
		case nonJoiner:
			seen[i+1] = in(viramas, before) || apart(all, i+1)
		}
	}
	for i := 0; i < len(all); {
		end := emojiOfSeveral(all[i:])
		for at := i; at < i+end; at++ {
			seen[at] = seen[at] || all[at] == joiner
		}
		i += max(1, end)
	}
	return seen
}

func joins(r rune) bool { return r == nonJoiner || r == joiner || r == pictures }

// apart reports whether a non-joiner keeps letters apart that would join; marks on them don't matter.
func apart(all []rune, at int) bool {
	before, after := at-1, at+1
	for before >= 0 && isMark(all[before]) {
		before--
	}
	for after < len(all) && isMark(all[after]) {
		after++
	}
	if before < 0 || after == len(all) {
		return false
	}
	first, next := all[before], all[after]
	return (in(dual, first) || in(left, first)) && (in(dual, next) || in(right, next))
}

// isMark reports whether a character is a mark on a letter that can be seen: one that does not keep letters from
// joining.
func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) && !unseen(r) }

// maxOfSeveral is how many emoji one is made of at most.
const maxOfSeveral = 5

// emojiOfSeveral is how many characters the longest emoji of several has that begins a text; 0: none does.
func emojiOfSeveral(all []rune) (length int) {
	name, at := "", 0
	for n := 0; n < maxOfSeveral && at < len(all); n++ {
		name += string(all[at])
		if at++; at < len(all) && (isTone(all[at]) || all[at] == pictures && sets().pictured[all[at-1]]) {
			at++
		}
		if n > 0 && sets().several[name] {
			length = at
		}
		if at == len(all) || all[at] != joiner {
			break
		}
		name += "+"
		at++
	}
	return length
}

// isTone reports whether a character gives the emoji before it a tone of skin.
func isTone(r rune) bool { return '\U0001f3fb' <= r && r <= '\U0001f3ff' }

// sets are tables in the form in which they are asked.
var sets = sync.OnceValue(func() (s struct {
	pictured map[rune]bool
	several  map[string]bool
}) {
	s.pictured, s.several = map[rune]bool{}, map[string]bool{}
	for _, r := range pictured {
		s.pictured[r] = true
	}
	for _, name := range strings.Fields(joinedEmoji) {
		s.several[name] = true
	}
	return s
})

// in reports whether a character is in one of some ranges, which are the first and the last character of each.
func in(ranges string, r rune) bool {
	first, isLast := rune(0), false
	for _, edge := range ranges {
		if isLast && first <= r && r <= edge {
			return true
		}
		first, isLast = edge, !isLast
	}
	return false
}
