package tool

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Why a pattern has no translation. Of one that is not of ECMA 262, such as (?i)a, Go's own reading is tried.
var (
	errBeyond = errors.New("it looks ahead or behind, refers back to a group, or means different things to " +
		"different engines")
	errForeign = errors.New("it is not a regular expression of ECMA 262")
)

// maxTranslated is the longest translation of a pattern, in bytes.
const maxTranslated = 64 << 10

// What ECMA 262 means by \s, by \S and by a dot, as ranges.
const (
	spaces    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	nonSpaces = `\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{` +
		`202e}\x{2030}-\x{205e}` +
		`\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
	inLine = `[^\n\r\x{2028}\x{2029}]`
)

// ecma writes a pattern of ECMA 262, which is what JSON Schema has, as one of Go's that matches exactly the same texts.
// Characters are code points, as with the flag u, but what this flag refuses and every engine reads alike, such as \@
// or a single }, is read.
type ecma struct {
	in     string // what is left to read
	out    strings.Builder
	atom   int   // where in out begins what a quantifier would repeat; -1: nothing
	groups []int // where the open groups begin
}

func translate(text string) (string, error) {
	e := &ecma{in: text, atom: -1}
	for e.in != "" {
		if err := e.next(); err != nil {
			return "", err
		}
		if e.out.Len() > maxTranslated {
			return "", errPatterns
		}
	}
	return e.out.String(), nil
}

// take reads one character.
func (e *ecma) take() rune {
	c, n := utf8.DecodeRuneInString(e.in)
	e.in = e.in[n:]
	return c
}

// has reads a text, if it comes next.
func (e *ecma) has(text string) (found bool) {
	e.in, found = strings.CutPrefix(e.in, text)
	return found
}

func (e *ecma) write(atom string) {
	e.atom = e.out.Len()
	e.out.WriteString(atom)
}

// assert writes what can't be repeated.
func (e *ecma) assert(text string) {
	e.write(text)
	e.atom = -1
}

// next translates what comes next.
func (e *ecma) next() error {
	switch c := e.take(); c {
	case '\\':
		if e.has("b") {
			e.assert(`\b`)
			return nil
		}
		if e.has("B") {
			e.assert(`\B`)
			return nil
		}
		char, set, err := e.escape()
		if set == "" {
			set = literal(char)
		}
		e.write("[" + set + "]")
		return err
	case '[':
		return e.class()
	case '(':
		return e.group()
	case ')':
		if len(e.groups) == 0 {
			return errForeign
		}
		e.out.WriteByte(')')
		e.atom, e.groups = e.groups[len(e.groups)-1], e.groups[:len(e.groups)-1]
	case '{':
		return e.repeat()
	case '.':
		e.write(inLine)
	case '|', '^', '$':
		e.assert(string(c))
	case '*', '+', '?':
		e.out.WriteByte(byte(c))
	default:
		e.write(regexp.QuoteMeta(string(c)))
	}
	return nil
}

var groupName = regexp.MustCompile(`^\?<[\pL_$][\pL\pN_$]*>`)

// group translates the beginning of a group.
func (e *ecma) group() error {
	e.groups = append(e.groups, e.out.Len())
	e.in = strings.TrimPrefix(e.in, groupName.FindString(e.in)) // names matter to references alone
	switch {
	case e.has("?:"):
		e.out.WriteString("(?:")
	case strings.HasPrefix(e.in, "?=") || strings.HasPrefix(e.in, "?!") || strings.HasPrefix(e.in, "?<"):
		return errBeyond
	case strings.HasPrefix(e.in, "?"):
		return errForeign
	default:
		e.out.WriteString("(")
	}
	e.atom = -1
	return nil
}

var quantifier = regexp.MustCompile(`^(\d{1,5})(?:(,)(\d{0,5}))?\}\??`)

const maxRepeat = 1000 // of Go's engine

// repeat translates a quantifier. What repeats more often than Go's engine allows is written several times, one after
// the other.
func (e *ecma) repeat() error {
	m := quantifier.FindStringSubmatch(e.in)
	switch {
	case m == nil && strings.HasPrefix(e.in, ","): // to some engines a{,2} is a text
		return errBeyond
	case m == nil:
		e.write(`\{`)
		return nil
	case e.atom < 0:
		return errForeign
	}
	e.in = e.in[len(m[0]):]
	least, most := bounds(m)
	atom := e.out.String()[e.atom:]
	if most < least {
		return errForeign
	}
	if least <= maxRepeat && (most <= maxRepeat || most == unlimited) {
		e.out.WriteString("{" + m[1] + m[2] + m[3] + "}")
		return nil
	}
	before := e.out.String()[:e.atom]
	if len(atom)*(2+least/maxRepeat) > maxTranslated ||
		most != unlimited && len(atom)*(most/maxRepeat) > maxTranslated {
		return errPatterns
	}
	e.out.Reset()
	e.out.WriteString(before)
	for left := least; left > 0; left -= maxRepeat {
		fmt.Fprintf(&e.out, "%s{%d}", atom, min(left, maxRepeat))
	}
	if most == unlimited {
		e.out.WriteString(atom + "*")
		return nil
	}
	for left := most - least; left > 0; left -= maxRepeat {
		fmt.Fprintf(&e.out, "%s{0,%d}", atom, min(left, maxRepeat))
	}
	return nil
}

const unlimited = math.MaxInt

// bounds reads what quantifier found.
func bounds(m []string) (least, most int) {
	least, _ = strconv.Atoi(m[1]) // digits
	most, err := strconv.Atoi(m[3])
	switch {
	case m[2] == "":
		most = least
	case err != nil:
		most = unlimited
	}
	return least, most
}

// class translates a class of characters.
func (e *ecma) class() error {
	not := e.has("^")
	var set strings.Builder
	for !e.has("]") {
		if e.in == "" {
			return errForeign
		}
		low, one, err := e.member()
		if err != nil {
			return err
		}
		if one != "" || !strings.HasPrefix(e.in, "-") || strings.HasPrefix(e.in, "-]") {
			set.WriteString(one)
			if one == "" {
				set.WriteString(literal(low))
			}
			continue
		}
		e.has("-")
		high, one, err := e.member()
		switch {
		case err != nil:
			return err
		case one != "":
			set.WriteString(literal(low) + `\-` + one)
		case high < low:
			return errForeign
		default:
			set.WriteString(literal(low) + "-" + literal(high))
		}
	}
	if set.Len() == 0 { // nothing is in [], and everything in [^]
		not = !not
		set.WriteString(`\x{0}-\x{10ffff}`)
	}
	e.write("[" + map[bool]string{true: "^"}[not] + set.String() + "]")
	return nil
}

// member reads a character of a class, or a set of them.
func (e *ecma) member() (char rune, set string, err error) {
	switch {
	case e.has(`\b`):
		return '\b', "", nil
	case e.in == "":
		return 0, "", errForeign
	case e.has(`\`):
		return e.escape()
	}
	return e.take(), "", nil
}

func literal(c rune) string { return fmt.Sprintf(`\x{%x}`, c) }

var (
	codePoint = regexp.MustCompile(`^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{0*([0-9a-fA-F]{1,6})\})`)
	surrogate = regexp.MustCompile(`^\\u([dD][c-fC-F][0-9a-fA-F]{2})`)
	property  = regexp.MustCompile(`^([pP])\{(?:(?:Script|sc|General_Category|gc)=)?([A-Za-z_]+)\}`)
)

// escape reads what comes after a backslash: a character or, as ranges, a set of them.
func (e *ecma) escape() (char rune, set string, err error) {
	if m := codePoint.FindStringSubmatch(e.in); m != nil {
		e.in = e.in[len(m[0]):]
		char, err = e.code(m[1] + m[2] + m[3])
		return char, "", err
	}
	if m := property.FindStringSubmatch(e.in); m != nil {
		e.in = e.in[len(m[0]):]
		return 0, `\` + m[1] + "{" + m[2] + "}", nil
	}
	switch c := e.take(); {
	case strings.ContainsRune("dDwW", c):
		return 0, `\` + string(c), nil
	case c == 's':
		return 0, spaces, nil
	case c == 'S':
		return 0, nonSpaces, nil
	case strings.ContainsRune("tnvfr", c):
		return map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}[c], "", nil
	case c == 'c':
		letter := e.take()
		if letter|0x20 < 'a' || letter|0x20 > 'z' {
			return 0, "", errForeign
		}
		return letter % 32, "", nil
	case c == '0' && (e.in == "" || e.in[0] < '0' || e.in[0] > '9'):
		return 0, "", nil
	case c == 'k' || c >= '0' && c <= '9':
		return 0, "", errBeyond
	case c == utf8.RuneError || c|0x20 >= 'a' && c|0x20 <= 'z':
		return 0, "", errForeign
	default:
		return c, "", nil
	}
}

// code gives the character of a hexadecimal code, or of this one and the second half of a surrogate pair.
func (e *ecma) code(digits string) (rune, error) {
	n, _ := strconv.ParseUint(digits, 16, 32) // which they are
	char := rune(n)
	if m := surrogate.FindStringSubmatch(e.in); m != nil && utf16.IsSurrogate(char) {
		e.in = e.in[len(m[0]):]
		low, _ := strconv.ParseUint(m[1], 16, 32) // as before
		char = utf16.DecodeRune(char, rune(low))
	}
	if utf16.IsSurrogate(char) || char > 0x10ffff {
		return 0, errBeyond
	}
	return char, nil
}
