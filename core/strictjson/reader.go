package strictjson

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The limits of every text.
const (
	MaxDepth  = 512    // how deep arrays and objects may nest
	MaxValues = 20_000 // of a tree, which takes about 250 bytes for each; a Reader that builds none reads any number
)

// Option changes what is accepted.
type Option func(*Reader)

// Repeats makes Parse keep every member of a repeated key instead of refusing the text: for formats whose readers
// ignore unknown keys, and for free-form parts. Get gives the first of them, Any the last; the caller refuses repeats
// where necessary.
func Repeats(r *Reader) { r.repeats = true }

// Replace reads invalid UTF-8 and half a surrogate pair as U+FFFD, as encoding/json does, instead of refusing the text:
// for texts of people, which a platform may have cut in the middle of a character.
func Replace(r *Reader) { r.replace = true }

// Trusted lets a tree have any number of values: for texts that gatehouse has stored itself.
func Trusted(r *Reader) { r.trusted = true }

// Reader reads a text once, from left to right, and builds nothing. It stands before a value; the caller reads it with
// the method for its Kind or with Skip, and calls End after the outermost one. All members of a repeated key are given:
// the caller refuses them where necessary. Its errors are *Error; after one it can't be used any more.
type Reader struct {
	data      []byte
	pos       int
	line      int
	lineStart int     // offset of the current line's first byte
	path      []int   // of the value: for a member the offset of its key, for an item ^n if it is the nth
	shallow   [16]int // the memory of a short path
	keyLine   int     // of the last key
	keyColumn int
	unescaped []byte // the last string with escapes
	repeats   bool
	replace   bool
	trusted   bool
	values    int // of the tree
}

// NewReader makes a Reader that stands before the outermost value.
func NewReader(data []byte, opts ...Option) *Reader {
	r := &Reader{data: data, line: 1}
	r.path = r.shallow[:0]
	for _, o := range opts {
		o(r)
	}
	r.space()
	return r
}

// Kind gives the kind of the value by its first byte, "" if none begins there.
func (r *Reader) Kind() Kind {
	switch c := r.peek(); {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == '-' || '0' <= c && c <= '9':
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	return ""
}

// Object reads an object. It calls member for each, to read the value. The key is valid until the next string is read.
// An error of member ends it.
func (r *Reader) Object(member func(key []byte) error) error {
	if err := r.expect('{', "an object"); err != nil {
		return err
	}
	first := true
	for r.space(); r.peek() != '}'; r.space() {
		if err := r.comma(first, '}'); err != nil {
			return err
		}
		first = false
		at := r.pos
		r.keyLine, r.keyColumn = r.line, r.column()
		if r.peek() != '"' {
			return r.fail(Syntax, "expected a key in double quotes, found %s", r.here())
		}
		key, err := r.String()
		if err != nil {
			return err
		}
		r.path = append(r.path, at)
		r.space()
		if err := r.expect(':', "':' after the key"); err != nil {
			return err
		}
		if err := r.inside(); err != nil {
			return err
		}
		if err := member(key); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	r.pos++
	return nil
}

// Array reads an array. It calls item for each, to read it. An error of item ends it.
func (r *Reader) Array(item func() error) error {
	if err := r.expect('[', "an array"); err != nil {
		return err
	}
	n := 0
	for r.space(); r.peek() != ']'; r.space() {
		if err := r.comma(n == 0, ']'); err != nil {
			return err
		}
		r.path = append(r.path, ^n)
		if err := r.inside(); err != nil {
			return err
		}
		if err := item(); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
		n++
	}
	r.pos++
	return nil
}

// inside moves on to a value inside an array or object.
func (r *Reader) inside() error {
	r.space()
	if len(r.path) > MaxDepth {
		return r.fail(TooDeep, "more than %d levels deep", MaxDepth)
	}
	return nil
}

// Skip reads a value of any kind and gives it as it is written: a part of the text that was passed to NewReader.
func (r *Reader) Skip() ([]byte, error) {
	start := r.pos
	if err := r.skip(); err != nil {
		return nil, err
	}
	return r.data[start:r.pos:r.pos], nil
}

func (r *Reader) skip() error {
	switch r.Kind() {
	case Object:
		return r.Object(func([]byte) error { return r.skip() })
	case Array:
		return r.Array(r.skip)
	case String:
		_, err := r.string(false)
		return err
	case Number:
		return r.number()
	case Bool:
		if r.peek() == 't' {
			return r.word("true")
		}
		return r.word("false")
	case Null:
		return r.word("null")
	}
	return r.noValue()
}

// End fails unless nothing but white space is left.
func (r *Reader) End() error {
	r.space()
	if r.pos < len(r.data) {
		return r.fail(Trailing, "unexpected %s after the value", r.here())
	}
	return nil
}

func (r *Reader) fail(code Code, format string, args ...any) *Error {
	return &Error{
		Code: code, Reason: fmt.Sprintf(format, args...), Pointer: r.pointer(), Line: r.line, Column: r.column(),
	}
}

// pointer gives the RFC 6901 pointer of the value.
func (r *Reader) pointer() string {
	steps := make([]string, len(r.path))
	for i, at := range r.path {
		if at < 0 {
			steps[i] = strconv.Itoa(^at)
			continue
		}
		again := Reader{data: r.data, pos: at, replace: r.replace}
		key, _ := again.String() // can't fail, as it was read before
		steps[i] = string(key)
	}
	return Pointer(steps...)
}

func (r *Reader) column() int { return r.pos - r.lineStart + 1 }

// here describes the next character for an error.
func (r *Reader) here() string {
	if r.pos >= len(r.data) {
		return "end of input"
	}
	c, _ := utf8.DecodeRune(r.data[r.pos:])
	return strconv.QuoteRune(c)
}

// peek gives the next byte, 0 at the end.
func (r *Reader) peek() byte {
	if r.pos < len(r.data) {
		return r.data[r.pos]
	}
	return 0
}

func (r *Reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case '\n':
			r.line++
			r.lineStart = r.pos + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		r.pos++
	}
}

// expect passes over a character.
func (r *Reader) expect(c byte, what string) error {
	if r.peek() != c {
		return r.fail(Syntax, "expected %s, found %s", what, r.here())
	}
	r.pos++
	return nil
}

// comma passes over the comma before a member or an item that is not the first.
func (r *Reader) comma(first bool, end byte) error {
	if first {
		return nil
	}
	if r.peek() != ',' {
		return r.fail(Syntax, "expected ',' or %q, found %s", end, r.here())
	}
	r.pos++
	r.space()
	return nil
}
