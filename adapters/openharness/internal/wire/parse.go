package wire

import (
	"bytes"
	"errors"
	"fmt"

	"gatehouse/core/strictjson"
)

// maxDepth is how deep a message may nest: fields are ignored at any depth that a sender means.
const maxDepth = 256

// parse reads a body as one JSON object.
func parse(body []byte) (*strictjson.Value, *Fault) {
	refused := func(format string, args ...any) (*strictjson.Value, *Fault) {
		return nil, &Fault{Code: InvalidRequest, Message: fmt.Sprintf(format, args...)}
	}
	switch depth, values := strictjson.Measure(body); {
	case len(bytes.TrimSpace(body)) == 0:
		return refused("The body is empty; send one JSON object.")
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return refused("The body begins with a byte order mark; send UTF-8 without one.")
	case depth > maxDepth:
		return refused("The body nests more than %d levels deep.", maxDepth)
	case values > strictjson.MaxValues:
		return refused("The body has more than %d values.", strictjson.MaxValues)
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
	strictjson.TooMany:      "The body has too many values",
	strictjson.Trailing:     "The body goes on after its JSON object",
}
