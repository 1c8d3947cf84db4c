package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core/strictjson"
)

// pattern is a regular expression of a schema.
type pattern struct {
	*regexp.Regexp
	text        string // as the schema has it
	size        int    // of its program, about; matching takes at most so many steps for each byte
	least, most int    // characters of a text that it matches
}

// String gives the pattern as the schema has it.
func (p *pattern) String() string { return p.text }

// MatchString reports whether a text has a match.
func (p *pattern) MatchString(text string) bool {
	n := utf8.RuneCountInString(text)
	return n >= p.least && n <= p.most && p.Regexp.MatchString(text)
}

// MaxPatterns is the size of all patterns of a schema together.
const MaxPatterns = 20_000

var errPatterns = errors.New("its patterns are too large, or repeat too much")

// long is a pattern for a whole text of so many characters of one kind. Where these are many it is read as the kind and
// the numbers, since matching would otherwise need a program as long as the text.
var long = regexp.MustCompile(`^\^(\.|\[(?:[^\\\]]|\\.)+\]|\\[dDwWsS])\{(\d{1,9})(?:(,)(\d{0,9}))?\}\$$`)

// compilePattern compiles a regular expression that is not too large. It is measured before: a few bytes may stand for
// a program of megabytes.
func compilePattern(text string) (jsonschema.Regexp, error) {
	p, expr, err := readPattern(text)
	if err != nil {
		return nil, err
	}
	p.Regexp, err = regexp.Compile(expr)
	return p, err
}

// PatternSize gives the size of a pattern, which counts for MaxPatterns; or why texts can't be matched with it.
func PatternSize(text string) (int, error) {
	p, _, err := readPattern(text)
	return p.size, err
}

// readPattern measures a pattern and gives it in Go's words.
func readPattern(text string) (p *pattern, expr string, err error) {
	p = &pattern{text: text, most: unlimited}
	if m := long.FindStringSubmatch(text); m != nil {
		if least, most := bounds(m[1:]); least <= most && (least > maxRepeat || most > maxRepeat && most != unlimited) {
			p.least, p.most, text = least, most, "^"+m[1]+"*$"
		}
	}
	expr, err = translate(text)
	if errors.Is(err, errForeign) {
		expr, err = text, nil
	}
	if err == nil {
		p.size, err = sizeOf(expr)
	}
	if p.size > MaxPatterns {
		err = errPatterns
	}
	return p, expr, err
}

// sizeOf measures a regular expression of Go.
func sizeOf(expr string) (int, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, err
	}
	var size func(re *syntax.Regexp) int
	size = func(re *syntax.Regexp) int {
		n := 1
		if re.Op == syntax.OpLiteral {
			n = len(re.Rune)
		}
		for _, sub := range re.Sub {
			n += size(sub)
		}
		if re.Op == syntax.OpRepeat {
			n *= max(re.Min, re.Max, 1)
		}
		return n
	}
	return size(parsed), nil
}

// patternsOf measures all patterns of a schema. Those that are no regular expressions are left to the compiler.
func patternsOf(schema *strictjson.Value) (total int) {
	add := func(text string) {
		size, _ := PatternSize(text)
		total += size
	}
	for _, m := range schema.Members {
		switch {
		case m.Key == "pattern" && m.Value.Kind == strictjson.String:
			add(m.Value.String)
		case m.Key == "patternProperties":
			for _, one := range m.Value.Members {
				add(one.Key)
			}
		}
		total += patternsOf(m.Value)
	}
	for _, item := range schema.Items {
		total += patternsOf(item)
	}
	return total
}
