package expr

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

const terms = "write $vars.NAME, $input.NAME, $len(…) or $map(…, 'member')"

// begins reports whether a text is meant as an expression.
func begins(text string) bool {
	for _, start := range []string{"$vars.", "$input.", "$len(", "$map("} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

// parser reads one expression or condition by recursive descent. token is the one that comes next.
type parser struct {
	found
	text  string
	token token
	calls int // that are open
}

func newParser(text string) (*parser, error) {
	p := &parser{text: text}
	if len(text) > maxLength {
		return nil, &Error{maxLength + 1, fmt.Sprintf("the text is longer than %d bytes", maxLength), ""}
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	if !begins(text[p.token.start:]) {
		return nil, p.fail(p.token, "an expression must begin with a reference or a call", terms)
	}
	return p, nil
}

func (p *parser) fail(at token, reason, hint string) error {
	return &Error{at.start + 1, reason, hint}
}

func (p *parser) next() error {
	t, err := scan(p.text, p.token.end)
	if err != nil {
		return err
	}
	p.token = t
	return nil
}

func (p *parser) end() error {
	if p.token.kind == end {
		return nil
	}
	return p.fail(p.token, fmt.Sprintf("unexpected %v after the expression", p.token),
		"put quotes around text of several words; there is no arithmetic")
}

func (p *parser) expect(mark string) error {
	if !p.token.is(mark) {
		return p.fail(p.token, fmt.Sprintf("expected %q, found %v", mark, p.token), "")
	}
	return p.next()
}

func (p *parser) operand() (node, error) {
	t := p.token
	switch {
	case t.kind == quoted:
		return literal{t.text}, p.next()
	case t.kind != term:
		return nil, p.fail(t, fmt.Sprintf("expected a value, found %v", t), "")
	case t.text == "$len" || t.text == "$map":
		return p.call()
	case strings.HasPrefix(t.text, "$"):
		return p.reference(t.text[1:], t.start+1)
	case p.calls > 0 && isRooted(t.text):
		return p.reference(t.text, t.start)
	}
	return p.word(t), p.next()
}

func isRooted(text string) bool {
	return strings.HasPrefix(text, "vars.") || strings.HasPrefix(text, "input.")
}

func (p *parser) word(t token) node {
	switch t.text {
	case "null":
		return literal{nil}
	case "true", "false":
		return literal{t.text == "true"}
	}
	if _, ok := parseDecimal(t.text); ok {
		return literal{json.Number(t.text)}
	}
	p.barewords = append(p.barewords, t.text)
	return literal{t.text}
}

func (p *parser) call() (node, error) {
	name := p.token
	if p.calls++; p.calls > maxDepth {
		return nil, p.fail(name, fmt.Sprintf("calls are nested more than %d deep", maxDepth), "")
	}
	defer func() { p.calls-- }()
	if err := p.next(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	of, err := p.operand()
	if err != nil {
		return nil, err
	}
	if name.text == "$len" {
		return length{of}, p.expect(")")
	}
	if err := p.expect(","); err != nil {
		return nil, err
	}
	member := p.token
	if member.kind != quoted {
		return nil,
			p.fail(member, fmt.Sprintf("expected the member's name in quotes, found %v", member),
				"write $map($vars.list, 'member')")
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	return members{of, member.text}, p.expect(")")
}

// reference reads a path. dotted is the text of the next token without its $, and start its offset.
func (p *parser) reference(dotted string, start int) (node, error) {
	if !isRooted(dotted) {
		return nil, p.fail(p.token, fmt.Sprintf("%q is not a reference or a call", p.token.text), terms)
	}
	root, rest, _ := strings.Cut(dotted, ".")
	r := &reference{root: root}
	if err := p.names(r, rest, start+len(root)+1); err != nil {
		return nil, err
	}
	p.refs = append(p.refs, Ref{Root: root, Name: r.path[0].name, Column: p.token.start + 1})
	for {
		last := p.token.end
		if err := p.next(); err != nil {
			return nil, err
		}
		switch {
		case p.token.start != last:
			return r, nil
		case p.token.is("["):
			if err := p.index(r); err != nil {
				return nil, err
			}
		case p.token.kind == term && strings.HasPrefix(p.token.text, "."):
			if err := p.names(r, p.token.text[1:], p.token.start+1); err != nil {
				return nil, err
			}
		default:
			return r, nil
		}
	}
}

// names appends names with dots between them. start is the offset of the first.
func (p *parser) names(r *reference, dotted string, start int) error {
	for name := range strings.SplitSeq(dotted, ".") {
		if name == "" {
			return &Error{start + 1, "a name is missing", "a dot stands between two names"}
		}
		if bad := strings.IndexFunc(name, notInName); bad >= 0 {
			return &Error{
				start + bad + 1, fmt.Sprintf("%q can't be in a name", []rune(name[bad:])[0]),
				"names have letters, digits, _ and -; there is no arithmetic",
			}
		}
		r.path = append(r.path, segment{name: name})
		start += len(name) + 1
	}
	return nil
}

func notInName(r rune) bool {
	return r != '_' && r != '-' && !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit)
}

// index reads "[", an integer, and leaves "]" as the last token.
func (p *parser) index(r *reference) error {
	if err := p.next(); err != nil {
		return err
	}
	i, err := strconv.ParseUint(p.token.text, 10, 31)
	if err != nil || p.token.kind != term {
		return p.fail(p.token, fmt.Sprintf("expected an index, found %v", p.token), "indexes are integers from 0")
	}
	r.path = append(r.path, segment{index: int(i), isIndex: true})
	if err := p.next(); err != nil {
		return err
	}
	if !p.token.is("]") {
		return p.fail(p.token, fmt.Sprintf("expected %q, found %v", "]", p.token), "")
	}
	return nil
}
