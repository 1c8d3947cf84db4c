package strictjson

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string. What it gives is valid until the next string is read.
func (r *Reader) String() ([]byte, error) { return r.string(true) }

// string reads a string; without keep it gives only the end of it, and needs no memory for more.
func (r *Reader) string(keep bool) ([]byte, error) {
	if err := r.expect('"', "a string"); err != nil {
		return nil, err
	}
	out := r.unescaped[:0]
	for {
		part := r.plain()
		whole := utf8.Valid(part)
		switch {
		case whole && len(out) == 0 && r.peek() == '"': // as most are
			r.pos++
			return part, nil
		case whole:
			out = append(out, part...)
		case r.replace:
			for _, c := range string(part) { // U+FFFD for each byte that is invalid
				out = utf8.AppendRune(out, c)
			}
		default:
			r.pos -= len(part) - validPart(part)
			return nil, r.fail(Encoding, "invalid UTF-8")
		}
		switch c := r.peek(); {
		case c == '"':
			r.pos++
			r.unescaped = out
			return out, nil
		case c == '\\':
			c, err := r.escape()
			if err != nil {
				return nil, err
			}
			if out = utf8.AppendRune(out, c); !keep {
				r.unescaped, out = out, out[:0]
			}
		case r.pos >= len(r.data):
			return nil, r.fail(Syntax, "the string is not closed")
		default:
			return nil, r.fail(Syntax, "a control character must be escaped in a string")
		}
	}
}

// plain passes over the characters of a string that stand for themselves.
func (r *Reader) plain() []byte {
	start := r.pos
	for r.pos < len(r.data) {
		if c := r.data[r.pos]; c == '"' || c == '\\' || c < 0x20 {
			break
		}
		r.pos++
	}
	return r.data[start:r.pos]
}

// validPart is how many bytes of a text come before the first that is no UTF-8.
func validPart(text []byte) (n int) {
	for n < len(text) {
		c, size := utf8.DecodeRune(text[n:])
		if c == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (r *Reader) escape() (rune, error) {
	r.pos++
	c := r.peek()
	if short, ok := escapes[c]; ok {
		r.pos++
		return short, nil
	}
	if c != 'u' {
		return 0, r.fail(Syntax, "unknown escape, found %s after '\\'", r.here())
	}
	r.pos++
	high, err := r.hex4()
	if err != nil || !utf16.IsSurrogate(high) {
		return high, err
	}
	after := r.pos
	if r.peek() == '\\' && r.pos+1 < len(r.data) && r.data[r.pos+1] == 'u' {
		r.pos += 2
		low, err := r.hex4()
		if err != nil {
			return 0, err
		}
		if full := utf16.DecodeRune(high, low); full != utf8.RuneError {
			return full, nil
		}
	}
	if r.replace {
		r.pos = after // what follows is read by itself
		return utf8.RuneError, nil
	}
	return 0, r.fail(Encoding, "half a surrogate pair")
}

func (r *Reader) hex4() (rune, error) {
	if len(r.data)-r.pos < 4 {
		return 0, r.fail(Syntax, "expected four hex digits after '\\u'")
	}
	n, err := strconv.ParseUint(string(r.data[r.pos:r.pos+4]), 16, 16)
	if err != nil {
		return 0, r.fail(Syntax, "expected four hex digits after '\\u'")
	}
	r.pos += 4
	return rune(n), nil
}

func (r *Reader) number() error {
	if r.peek() == '-' {
		r.pos++
	}
	if r.peek() == '0' {
		r.pos++
	} else if !r.digits() {
		return r.fail(Syntax, "expected a digit, found %s", r.here())
	}
	if r.peek() == '.' {
		r.pos++
		if !r.digits() {
			return r.fail(Syntax, "expected a digit after '.', found %s", r.here())
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.pos++
		if c := r.peek(); c == '+' || c == '-' {
			r.pos++
		}
		if !r.digits() {
			return r.fail(Syntax, "expected a digit in the exponent, found %s", r.here())
		}
	}
	return nil
}

// digits passes over digits, and reports whether there was one.
func (r *Reader) digits() bool {
	start := r.pos
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.pos++
	}
	return r.pos > start
}

func (r *Reader) word(w string) error {
	if len(r.data)-r.pos < len(w) || string(r.data[r.pos:r.pos+len(w)]) != w {
		return r.noValue()
	}
	r.pos += len(w)
	return nil
}

func (r *Reader) noValue() error { return r.fail(Syntax, "expected a value, found %s", r.here()) }
