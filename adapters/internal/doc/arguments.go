package doc

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// Arguments returns the text of a call's arguments for a card: a line "key: value" for each of a flat object, else the
// JSON as it is. A value is quoted if it could be mistaken for another one: the text 5 is "5". Empty if there are none.
func Arguments(c core.Card) string {
	text := strings.TrimSpace(mask.Escape(c.Arguments))
	if lines, ok := flat(text); ok {
		return strings.Join(lines, "\n")
	}
	return text
}

// Shown returns the arguments that a card shows as code or, if it shows none, what it says in their place; both are ""
// of a question, if the lead says them, and if they are not known.
func (d Document) Shown() (code, instead string) {
	switch {
	case d.card.Question != nil || d.Told || d.card.Arguments == "":
		return "", ""
	case d.Arguments == "":
		return "", d.NoArguments
	case d.Folded && safetext.Units(d.Arguments) > maxFolded:
		return "", safetext.Counted(d.ArgumentsFolded, utf8.RuneCountInString(d.Arguments))
	}
	return d.Arguments, ""
}

// maxFolded is how long the arguments of a decided call may be for its card to show them.
const maxFolded = 120

// Argument is one argument of a call, for a surface that has a row for each.
type Argument struct {
	Name, Value string
	JSON        bool // the value is an object or a list, on several lines
}

// Rows returns the arguments one by one, and their JSON; there are none where Arguments is empty, and where they are no
// object. Names and values are written as in Arguments.
func (d Document) Rows() (rows []Argument, text string) {
	if d.Arguments == "" {
		return nil, ""
	}
	text = strings.TrimSpace(mask.Escape(d.card.Arguments))
	body, object := strings.CutPrefix(text, "{\n")
	if !object || !json.Valid([]byte(text)) {
		return nil, ""
	}
	for line := range strings.Lines(strings.TrimSuffix(body, "}")) {
		if m := memberLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			rows = append(rows, Argument{Name: bare(m[1]), Value: m[2]})
			continue
		}
		if rows == nil {
			return nil, ""
		}
		last := &rows[len(rows)-1]
		last.Value, last.JSON = last.Value+"\n"+strings.TrimPrefix(strings.TrimSuffix(line, "\n"), indent), true
	}
	for i := range rows {
		if rows[i].Value = strings.TrimSuffix(rows[i].Value, ","); !rows[i].JSON {
			rows[i].Value = bare(rows[i].Value)
		}
	}
	return rows, text
}

const indent = "  " // of the members of a call's arguments

// memberLine matches the first line of a member of an indented object.
var memberLine = regexp.MustCompile(`^  ("(?:[^"\\]|\\.)*"): (.*)$`)

// flat returns the lines of a JSON object that has only texts, numbers and the like. It reads the JSON's own text and
// decodes nothing, so escapes stay as visible as they are.
func flat(text string) (lines []string, ok bool) {
	if text == "{}" {
		return nil, true
	}
	if !json.Valid([]byte(text)) || !strings.HasPrefix(text, "{") {
		return nil, false
	}
	for _, line := range strings.Split(strings.Trim(text, "{}\n "), "\n") {
		m := scalarLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return nil, false
		}
		lines = append(lines, bare(m[1])+": "+bare(m[2]))
	}
	return lines, true
}

// scalarLine matches a line of an indented object whose value is no object and no list.
var scalarLine = regexp.MustCompile(`^("(?:[^"\\]|\\.)*"): ("(?:[^"\\]|\\.)*"|-?[0-9][-+.eE0-9]*|true|false|null),?$`)

// bare removes the quotes of a text that can't be mistaken for anything else without them: not for a number, and not
// for several lines.
func bare(literal string) string {
	body := strings.TrimSuffix(strings.TrimPrefix(literal, `"`), `"`)
	if len(body)+2 != len(literal) || body == "" || json.Valid([]byte(body)) || strings.TrimSpace(body) != body ||
		misleading.MatchString(body) {
		return literal
	}
	return body
}

// misleading matches what could look like the end of a value: an escape, a colon before a space or a wide one, and any
// white space but a single plain space.
var misleading = regexp.MustCompile(
	`[\\"]|: |\s\s|[^\S ]|[\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{ff1a}]`)
