package prompt

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// identifier is the form of the names of variables and placeholders (prompt-management §3.1).
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// piece is a part of a template: text, or the name of a variable.
type piece struct {
	text, variable string
	at             int // its offset in the template
}

// syntaxError is an expression that is not valid.
type syntaxError struct {
	at     int // its offset in the template
	reason string
}

func (e *syntaxError) Error() string { return e.reason }

const (
	openMark  = "{{"
	closeMark = "}}"
)

// parse splits a template into its pieces.
func parse(template string) ([]piece, error) {
	var pieces []piece
	rest, at := template, 0
	for {
		before, after, found := strings.Cut(rest, openMark)
		pieces = append(pieces, piece{text: before, at: at})
		if !found {
			return pieces, nil
		}
		p, length, reason := expression(after)
		if reason != "" {
			return nil, &syntaxError{at + len(before), reason}
		}
		p.at = at + len(before)
		pieces = append(pieces, p)
		at += len(before) + len(openMark) + length
		rest = after[length:]
	}
}

// expression reads what follows the opening braces, up to and with the closing ones.
func expression(text string) (p piece, length int, reason string) {
	inner := strings.TrimLeft(text, " \t")
	if inner != "" && (inner[0] == '"' || inner[0] == '\'') {
		literal, after, closed := strings.Cut(inner[1:], inner[:1])
		after, ends := strings.CutPrefix(strings.TrimLeft(after, " \t"), closeMark)
		if !closed || !ends {
			return p, 0, "the quoted text after {{ is not closed by its quotation mark and }}"
		}
		return piece{text: literal}, len(text) - len(after), ""
	}
	inside, _, closed := strings.Cut(text, closeMark)
	name := strings.TrimSpace(inside)
	switch {
	case !closed:
		return p, 0, `{{ has no }}; to write two braces use {{ "{{" }}`
	case !identifier.MatchString(name):
		return p, 0,
			fmt.Sprintf(
				`{{ %s }} is no variable; write {{ name }}, with letters, digits and underscores, and two braces `+
					`as {{ "{{" }}`,
				shortened(name))
	}
	return piece{variable: name}, len(inside) + len(closeMark), ""
}

// shortened cuts a text that is quoted in a message.
func shortened(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// substitute renders a template. Every variable must have a value. The values are inserted as they are.
func substitute(template string, variables map[string]any) (string, error) {
	pieces, err := parse(template)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
		if p.variable == "" {
			continue
		}
		value, given := variables[p.variable]
		if !given {
			return "", fmt.Errorf("the variable %q is undefined", p.variable)
		}
		text, ok := textOf(value)
		if !ok {
			return "", fmt.Errorf("the variable %q has a value of type %T; only texts, numbers, true and false can "+
				"be inserted", p.variable, value)
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// textOf gives a value as text: texts, numbers and bools have one.
func textOf(value any) (string, bool) {
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, v.Type().Bits()), true
	}
	return "", false
}
