package wire

import (
	"bytes"
	"errors"
	"fmt"

	"gatehouse/core/strictjson"
)

// Bounds of every message.
const (
	maxDepth  = 256 // fields are ignored at any depth that a sender means
	maxValues = 20_000
)

// parse reads a body as one JSON object.
func parse(body []byte) (*strictjson.Value, *Fault) {
	refused := func(format string, args ...any) (*strictjson.Value, *Fault) {
		return nil, &Fault{Code: InvalidRequest, Message: fmt.Sprintf(format, args...)}
	}
	switch depth, values := measure(body); {
	case len(bytes.TrimSpace(body)) == 0:
		return refused("The body is empty; send one JSON object.")
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return refused("The body begins with a byte order mark; send UTF-8 without one.")
	case depth > maxDepth:
		return refused("The body nests more than %d levels deep.", maxDepth)
	case values > maxValues:
		return refused("The body has more than %d values.", maxValues)
	}
	v, err := strictjson.Parse(body)
	if e := (*strictjson.Error)(nil); errors.As(err, &e) {
		// The parser's own words quote the body.
		return refused("%s (line %d, column %d).", broken[e.Code], e.Line, e.Column)
	}
	if v.Kind != strictjson.Object {
		return refused("The body must be a JSON object.")
	}
	return v, nil
}

var broken = map[strictjson.Code]string{
	strictjson.Syntax:       "The body is not valid JSON",
	strictjson.DuplicateKey: "An object of the body repeats a key",
	strictjson.Encoding:     "The body is not valid UTF-8, or holds half a surrogate pair",
	strictjson.TooDeep:      "The body nests too deep",
	strictjson.Trailing:     "The body goes on after its JSON object",
}

// measure counts the levels and values of a JSON text without reading it into memory, and stops soon after a bound is
// broken. The numbers of a text that is not JSON mean nothing; it is refused for that.
func measure(body []byte) (depth, values int) {
	deepest, values := 0, 1
	opened := false // the last byte but white space was [ or {
	for i := 0; i < len(body) && deepest <= maxDepth && values <= maxValues; i++ {
		c := body[i]
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if opened && c != ']' && c != '}' {
			values++ // the first item or member
		}
		opened = false
		switch c {
		case '"':
			for i++; i < len(body) && body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			opened = true
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		case ',':
			values++
		}
	}
	return deepest, values
}
