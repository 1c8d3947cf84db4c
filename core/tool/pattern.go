package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core/strictjson"
)

// pattern is a regular expression of a schema.
type pattern struct {
	*regexp.Regexp
	size int // of its program, about; matching takes at most so many steps for each byte
}

const maxPatterns = 20_000 // the size of all patterns of a schema together

var errPatterns = errors.New("its patterns are too large, or repeat too much")

// compilePattern compiles a regular expression that is not too large. It is measured before: a few bytes may stand for a program of megabytes.
func compilePattern(text string) (jsonschema.Regexp, error) {
	size, err := sizeOf(text)
	if err != nil {
		return nil, err
	}
	if size > maxPatterns {
		return nil, errPatterns
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &pattern{re, size}, nil
}

// sizeOf measures a regular expression.
func sizeOf(text string) (int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
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
		size, _ := sizeOf(text)
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
