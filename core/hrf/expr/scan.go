package expr

import (
	"fmt"
	"strings"
)

type kind int

const (
	end      kind = iota
	term          // a reference, the name of a call, a number or a word
	quoted        // a text in quotes; text is what they hold
	operator      // a comparison
	mark          // one of ( ) [ ] ,
)

type token struct {
	kind       kind
	text       string
	start, end int // offsets
}

func (t token) is(mark string) bool { return t.kind != quoted && t.text == mark }

func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// delimiters end a term.
const delimiters = " \t\r\n()[],'\"=!<>&|"

// scan returns the token at or after an offset.
func scan(text string, from int) (token, *Error) {
	at := from + len(text[from:]) - len(strings.TrimLeft(text[from:], " \t\r\n"))
	if at == len(text) {
		return token{kind: end, start: at, end: at}, nil
	}
	rest := text[at:]
	switch c := rest[0]; c {
	case '(', ')', '[', ']', ',':
		return token{mark, rest[:1], at, at + 1}, nil
	case '\'', '"':
		length := strings.IndexByte(rest[1:], c)
		if length < 0 {
			return token{}, &Error{at + 1, "the quoted text is not closed", fmt.Sprintf("close it with %c", c)}
		}
		return token{quoted, rest[1 : 1+length], at, at + length + 2}, nil
	case '=', '!', '<', '>', '&', '|':
		return scanOperator(rest, at)
	}
	length := strings.IndexAny(rest, delimiters)
	if length < 0 {
		length = len(rest)
	}
	return token{term, rest[:length], at, at + length}, nil
}

func scanOperator(rest string, at int) (token, *Error) {
	for _, known := range []string{"==", "!=", "<=", ">=", "<", ">"} {
		if strings.HasPrefix(rest, known) {
			return token{operator, known, at, at + len(known)}, nil
		}
	}
	hint := "operators are == != < <= > >="
	if rest[0] != '=' {
		hint = "there is no !, && or ||: use == false, or one if step within another"
	}
	return token{}, &Error{at + 1, fmt.Sprintf("%q is not an operator", rest[:1]), hint}
}
