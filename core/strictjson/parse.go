package strictjson

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest.
const MaxDepth = 512

// Option changes what Parse accepts.
type Option func(*parser)

// Repeats keeps every member of a repeated key instead of refusing the text: for formats whose readers ignore unknown keys, and for
// free-form parts. Get gives the first of them, Any the last; the caller refuses repeats where necessary.
func Repeats(p *parser) { p.repeats = true }

// Replace reads invalid UTF-8 and half a surrogate pair as U+FFFD, as encoding/json does, instead of refusing the text: for texts of people,
// which a platform may have cut in the middle of a character.
func Replace(p *parser) { p.replace = true }

// Parse reads exactly one JSON value. The error is always an *Error.
func Parse(data []byte, opts ...Option) (*Value, error) {
	p := &parser{data: data, line: 1}
	for _, o := range opts {
		o(p)
	}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.pos < len(p.data) {
		return nil, p.fail(Trailing, "unexpected %s after the value", p.here())
	}
	return v, nil
}

type parser struct {
	data      []byte
	pos       int
	line      int
	lineStart int // offset of the current line's first byte
	path      []string
	repeats   bool
	replace   bool
}

func (p *parser) fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Reason: fmt.Sprintf(format, args...), Pointer: Pointer(p.path...), Line: p.line, Column: p.pos - p.lineStart + 1}
}

// here describes the next character for an error.
func (p *parser) here() string {
	if p.pos >= len(p.data) {
		return "end of input"
	}
	r, _ := utf8.DecodeRune(p.data[p.pos:])
	return strconv.QuoteRune(r)
}

func (p *parser) space() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case '\n':
			p.line++
			p.lineStart = p.pos + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		p.pos++
	}
}

func (p *parser) value(depth int) (*Value, error) {
	if depth > MaxDepth {
		return nil, p.fail(TooDeep, "more than %d levels deep", MaxDepth)
	}
	v := &Value{Line: p.line, Column: p.pos - p.lineStart + 1, start: p.pos}
	var err error
	switch c := p.peek(); {
	case c == '{':
		v.Kind = Object
		v.Members, err = p.object(depth)
	case c == '[':
		v.Kind = Array
		v.Items, err = p.array(depth)
	case c == '"':
		v.Kind = String
		v.String, err = p.string()
	case c == '-' || '0' <= c && c <= '9':
		v.Kind = Number
		v.Number, err = p.number()
	case c == 't':
		v.Kind, v.Bool = Bool, true
		err = p.word("true")
	case c == 'f':
		v.Kind = Bool
		err = p.word("false")
	case c == 'n':
		v.Kind = Null
		err = p.word("null")
	default:
		err = p.fail(Syntax, "expected a value, found %s", p.here())
	}
	if err != nil {
		return nil, err
	}
	v.end = p.pos
	return v, nil
}

// peek gives the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) word(w string) error {
	if len(p.data)-p.pos < len(w) || string(p.data[p.pos:p.pos+len(w)]) != w {
		return p.fail(Syntax, "expected a value, found %s", p.here())
	}
	p.pos += len(w)
	return nil
}

func (p *parser) object(depth int) ([]Member, error) {
	p.pos++
	members := []Member{}
	seen := map[string]bool{}
	for p.space(); p.peek() != '}'; p.space() {
		if err := p.comma(len(members), '}'); err != nil {
			return nil, err
		}
		m := Member{Line: p.line, Column: p.pos - p.lineStart + 1}
		if p.peek() != '"' {
			return nil, p.fail(Syntax, "expected a key in double quotes, found %s", p.here())
		}
		var err error
		if m.Key, err = p.string(); err != nil {
			return nil, err
		}
		p.path = append(p.path, m.Key)
		if seen[m.Key] && !p.repeats {
			e := p.fail(DuplicateKey, "the key %q is repeated", m.Key)
			e.Line, e.Column = m.Line, m.Column
			return nil, e
		}
		seen[m.Key] = true
		p.space()
		if p.peek() != ':' {
			return nil, p.fail(Syntax, "expected ':' after the key, found %s", p.here())
		}
		p.pos++
		p.space()
		if m.Value, err = p.value(depth + 1); err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		members = append(members, m)
	}
	p.pos++
	return members, nil
}

func (p *parser) array(depth int) ([]*Value, error) {
	p.pos++
	items := []*Value{}
	for p.space(); p.peek() != ']'; p.space() {
		if err := p.comma(len(items), ']'); err != nil {
			return nil, err
		}
		p.path = append(p.path, strconv.Itoa(len(items)))
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.path = p.path[:len(p.path)-1]
		items = append(items, v)
	}
	p.pos++
	return items, nil
}

// comma passes over the comma after the first n items of an array or object.
func (p *parser) comma(n int, end byte) error {
	if n == 0 {
		return nil
	}
	if p.peek() != ',' {
		return p.fail(Syntax, "expected ',' or %q, found %s", end, p.here())
	}
	p.pos++
	p.space()
	return nil
}

func (p *parser) number() (json.Number, error) {
	start := p.pos
	digits := func() bool {
		from := p.pos
		for c := p.peek(); '0' <= c && c <= '9'; c = p.peek() {
			p.pos++
		}
		return p.pos > from
	}
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else if !digits() {
		return "", p.fail(Syntax, "expected a digit, found %s", p.here())
	}
	if p.peek() == '.' {
		p.pos++
		if !digits() {
			return "", p.fail(Syntax, "expected a digit after '.', found %s", p.here())
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if !digits() {
			return "", p.fail(Syntax, "expected a digit in the exponent, found %s", p.here())
		}
	}
	return json.Number(p.data[start:p.pos]), nil
}

func (p *parser) string() (string, error) {
	p.pos++
	plain := p.plain()
	if p.peek() == '"' {
		p.pos++
		return string(plain), nil
	}
	out := append([]byte(nil), plain...)
	for {
		if p.pos >= len(p.data) {
			return "", p.fail(Syntax, "the string is not closed")
		}
		switch c := p.data[p.pos]; {
		case c == '"':
			p.pos++
			return string(out), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		case c < 0x20:
			return "", p.fail(Syntax, "a control character must be escaped in a string")
		case c < utf8.RuneSelf:
			out = append(out, p.plain()...)
		default:
			r, size := utf8.DecodeRune(p.data[p.pos:])
			if r == utf8.RuneError && size == 1 && !p.replace {
				return "", p.fail(Encoding, "invalid UTF-8")
			}
			out = utf8.AppendRune(out, r)
			p.pos += size
		}
	}
}

// plain passes over the characters of a string that stand for themselves, and are of one byte.
func (p *parser) plain() []byte {
	start := p.pos
	for p.pos < len(p.data) {
		if c := p.data[p.pos]; c == '"' || c == '\\' || c < 0x20 || c >= utf8.RuneSelf {
			break
		}
		p.pos++
	}
	return p.data[start:p.pos]
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape() (rune, error) {
	p.pos++
	c := p.peek()
	if r, ok := escapes[c]; ok {
		p.pos++
		return r, nil
	}
	if c != 'u' {
		return 0, p.fail(Syntax, "unknown escape, found %s after '\\'", p.here())
	}
	p.pos++
	r, err := p.hex4()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	after := p.pos
	if p.peek() == '\\' && p.pos+1 < len(p.data) && p.data[p.pos+1] == 'u' {
		p.pos += 2
		low, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return full, nil
		}
	}
	if p.replace {
		p.pos = after // what follows is read by itself
		return utf8.RuneError, nil
	}
	return 0, p.fail(Encoding, "half a surrogate pair")
}

func (p *parser) hex4() (rune, error) {
	if len(p.data)-p.pos < 4 {
		return 0, p.fail(Syntax, "expected four hex digits after '\\u'")
	}
	n, err := strconv.ParseUint(string(p.data[p.pos:p.pos+4]), 16, 16)
	if err != nil {
		return 0, p.fail(Syntax, "expected four hex digits after '\\u'")
	}
	p.pos += 4
	return rune(n), nil
}
