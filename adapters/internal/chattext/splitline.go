package chattext

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// within ends the part inside the line that follows the draft. It fails only if the draft leaves no room for any of that line.
func (s *splitter) within(d draft, room int) (piece, bool) {
	raw := s.line(d.at)
	line, dedent, _ := s.shown(d, raw)
	keep := len(line) - len(strings.TrimLeft(line, " \t")) // no cut inside a line's indent
	if d.at == 0 {
		keep = max(keep, len(s.lead))
	}
	places := boundaries(line, len(strings.TrimRightFunc(line, unicode.IsSpace)), keep, room-d.used)
	if len(places) == 0 { // what is left of the line, as far as it was read, is one character and white space
		places = boundaries(line, len(strings.TrimRight(line, "\r\n")), keep, room-d.used)
	}
	chosen, ok := draft{}, false
	cutAt := 0
	try := func(at int, careful bool) bool {
		c := d
		before := c.state.open
		was, is := c.state, c.state
		kind, whole := is.Next(line[:at]), was.Next(line)
		if c.state, c.last = is, line[:at]; strings.TrimSpace(line[:at]) != "" || is.open {
			c.solid = is
		}
		c.text, c.used = d.text+line[:at], d.used+Units(line[:at])
		if blank := strings.TrimSpace(c.text) == "" && !c.state.open && !c.solid.open; blank || !c.fits(room) {
			return false
		}
		if careful {
			then := is
			follows := then.Next(line[at:])
			if kind != whole || is.open != was.open || follows == OpensFence || follows == ClosesFence || !before && is.open && whole != OpensFence {
				return false
			}
		}
		chosen, cutAt, ok = c, at, true
		return true
	}
	s.search(line, places, try)
	if !ok {
		return piece{}, false
	}
	text, after := chosen.ending()
	p := piece{s.before + s.lead, text[min(len(s.lead), len(text)):], after}
	s.goOnWithin(d, chosen, line, len(raw)-(len(line)-cutAt), dedent)
	return p, true
}

// search tries the places from the last to the first: between words, then between characters, both carefully. If all fail, it tries
// every place without care.
func (s *splitter) search(line string, places []int, try func(at int, careful bool) bool) {
	const tries = 64
	half := len(places) / 2
	for _, words := range []bool{true, false} {
		tried := 0
		for i := len(places) - 1; i >= 0 && tried < tries; i-- {
			if words && (i < half || !isSpace(line[places[i]:])) {
				continue
			}
			tried++
			if try(places[i], true) {
				return
			}
		}
	}
	for i := len(places) - 1; i >= 0; i-- {
		if try(places[i], false) {
			return
		}
	}
}

func isSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// goOnWithin makes the next part begin with the rest of a line.
func (s *splitter) goOnWithin(d, chosen draft, line string, used, dedent int) {
	s.rest = s.rest[d.at+used:]
	s.midway, s.before, s.lead, s.code, s.dedent = true, "", "", false, dedent
	if chosen.state.open {
		s.reopen(chosen.state)
	}
	quote := chosen.state.fence.quote
	if !chosen.state.open {
		quote = leadOf(strings.TrimRight(line, "\r\n")).quote
	}
	if quote = strings.TrimLeft(quote, " "); Units(quote) <= s.limit/4 {
		s.lead = quote
	}
	s.repeatHead(d, line, OutsideFence)
}

// boundaries returns the places between the characters, as people see them, where a line may be cut: after from, before end, and
// within room.
func boundaries(line string, end, from, room int) []int {
	var places []int
	used, flags, whole := Units(line[:min(from, len(line))]), 0, 0
	var last rune
	for at := from; at < end; {
		r, size := utf8.DecodeRuneInString(line[at:])
		if isFlag(r) {
			flags++
		} else {
			flags = 0
		}
		joined := joins(r) || last == joiner || last == '\\' || flags > 0 && flags%2 == 0
		if at > from && at >= whole && !joined {
			places = append(places, at)
		}
		if r == '&' && at >= whole {
			whole = at + entity(line[at:])
		}
		if used += utf16.RuneLen(r); used > room {
			break
		}
		at, last = at+size, r
	}
	return places
}

const joiner = '\u200d'

// joins reports whether a rune belongs to the character before it.
func joins(r rune) bool {
	return r == joiner || unicode.Is(unicode.M, r) || 0xfe00 <= r && r <= 0xfe0f || 0x1f3fb <= r && r <= 0x1f3ff || 0xe0020 <= r && r <= 0xe007f
}

// isFlag reports whether a rune is half of a flag.
func isFlag(r rune) bool { return 0x1f1e6 <= r && r <= 0x1f1ff }

// entity returns the length of the character reference at the beginning of a text, 0 if there is none.
func entity(s string) int {
	const longest = 32 // CounterClockwiseContourIntegral
	for i := 1; i < min(len(s), longest+2); i++ {
		switch c := s[i]; {
		case c == ';' && i > 1:
			return i + 1
		case c != '#' && (c < '0' || '9' < c) && (c < 'A' || 'Z' < c) && (c < 'a' || 'z' < c):
			return 0
		}
	}
	return 0
}
