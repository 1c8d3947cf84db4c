package strictjson

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the JSON type of a Value.
type Kind string

// The six kinds of JSON.
const (
	Null   Kind = "null"
	Bool   Kind = "boolean"
	Number Kind = "number"
	String Kind = "string"
	Array  Kind = "array"
	Object Kind = "object"
)

// Value is one JSON value and its position. Only the payload field of its Kind is set.
type Value struct {
	Kind    Kind
	Bool    bool
	Number  json.Number // the digits as written
	String  string
	Items   []*Value
	Members []Member // in the order of the text

	Line, Column int // of its first byte; columns count bytes; both from 1
	start, end   int
}

// Member is one key of an object and its value.
type Member struct {
	Key   string
	Value *Value

	Line, Column int // of the key
}

// Get gives the member of that exact key; nil if v is no object or has no such key.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for _, m := range v.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Raw is the part of the text that v was parsed from; data must be the text that Parse was given.
func (v *Value) Raw(data []byte) json.RawMessage {
	return json.RawMessage(append([]byte(nil), data[v.start:v.end]...))
}

// Columns gives the columns at which the bytes of v.String at these offsets are written in the text that v was parsed
// from. The offsets ascend; the last may be the string's length. data must be the text that Parse was given.
func (v *Value) Columns(data []byte, offsets ...int) []int {
	p := &Reader{data: data, pos: v.start + 1, replace: true}
	columns := make([]int, len(offsets))
	read := 0
	for i, offset := range offsets {
		for read < offset {
			from := p.pos
			r, size := utf8.DecodeRune(data[p.pos:])
			if r == '\\' {
				r, _ = p.escape() // can't fail, as the text was parsed
			} else {
				p.pos += size
			}
			if read += utf8.RuneLen(r); read > offset { // within a character
				p.pos, read = from, read-utf8.RuneLen(r)
				break
			}
		}
		columns[i] = v.Column + p.pos - v.start
	}
	return columns
}

// Any gives v as maps, slices, strings, json.Number, bools and nil.
func (v *Value) Any() any {
	switch v.Kind {
	case Bool:
		return v.Bool
	case Number:
		return v.Number
	case String:
		return v.String
	case Array:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			items[i] = item.Any()
		}
		return items
	case Object:
		members := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			members[m.Key] = m.Value.Any()
		}
		return members
	}
	return nil
}

// AppendCanonical appends v without white space and needless escapes: keys sorted by bytes, of a repeated key the last
// member. number appends a number; nil keeps the digits that it was written in.
func (v *Value) AppendCanonical(b []byte, number func(b []byte, digits string) []byte) []byte {
	if number == nil {
		number = func(b []byte, digits string) []byte { return append(b, digits...) }
	}
	return v.appendSorted(b, strings.Compare, number)
}

// appendSorted appends v with the keys of objects in an order.
func (v *Value) appendSorted(
	b []byte, order func(a, b string) int, number func(b []byte, digits string) []byte,
) []byte {
	switch v.Kind {
	case Object:
		last := map[string]*Value{}
		for _, m := range v.Members {
			last[m.Key] = m.Value
		}
		b = append(b, '{')
		for i, key := range slices.SortedFunc(maps.Keys(last), order) {
			if i > 0 {
				b = append(b, ',')
			}
			b = last[key].appendSorted(append(AppendString(b, key), ':'), order, number)
		}
		return append(b, '}')
	case Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.appendSorted(b, order, number)
		}
		return append(b, ']')
	case String:
		return AppendString(b, v.String)
	case Number:
		return number(b, string(v.Number))
	case Bool:
		return strconv.AppendBool(b, v.Bool)
	}
	return append(b, "null"...)
}

// AppendString appends s as a JSON string that escapes only what JSON requires: encoding/json would also escape <, >, &
// and U+2028. s must be valid UTF-8, as Parse's strings are.
func AppendString(b []byte, s string) []byte {
	const short = "\b\t\n\f\r"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case strings.IndexByte(short, c) >= 0:
			b = append(b, '\\', "btnfr"[strings.IndexByte(short, c)])
		default:
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	return append(b, '"')
}

// Code is the rule that a text breaks.
type Code string

// The rules.
const (
	Syntax       Code = "syntax"
	DuplicateKey Code = "duplicate_key"
	Encoding     Code = "encoding" // invalid UTF-8, or half a surrogate pair
	TooDeep      Code = "too_deep"
	TooMany      Code = "too_many" // values, of what is parsed to a tree
	Trailing     Code = "trailing" // there is text after the value
)

// Error is what is wrong with a text, and where.
type Error struct {
	Code         Code
	Reason       string
	Pointer      string // RFC 6901, of the innermost value that was being read
	Line, Column int
}

// Error gives position and reason.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer joins steps to an RFC 6901 pointer.
func Pointer(steps ...string) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(s))
	}
	return b.String()
}

// At gives the value that an RFC 6901 pointer names, below v; nil if there is none.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if v == nil {
			return nil
		}
		if v.Kind == Array {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v.Items) {
				return nil
			}
			v = v.Items[i]
			continue
		}
		v = v.Get(pointerUnescape.Replace(step))
	}
	return v
}

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
