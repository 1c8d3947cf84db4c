package question

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatehouse/core/strictjson"
)

// Check returns an answer in its stored form: compact, a form's members in the order of the fields. The error tells who
// answers what is wrong.
func (q Question) Check(answer json.RawMessage) (json.RawMessage, error) {
	v, err := strictjson.Parse(answer)
	if err != nil {
		return nil, fmt.Errorf("the answer is not valid JSON: %w", err)
	}
	if !q.Form {
		return q.Fields[0].check(v)
	}
	if v.Kind != strictjson.Object {
		return nil, fmt.Errorf("the answer must be a JSON object with %s", q.names())
	}
	for _, m := range v.Members {
		if q.place(m.Key) < 0 {
			return nil, fmt.Errorf("there is no field %q; the fields are %s", cut(m.Key, MaxTitle), q.names())
		}
	}
	var kept bytes.Buffer
	for _, f := range q.Fields {
		value := v.Get(f.Name)
		if value == nil || value.Kind == strictjson.Null && !f.Required {
			if f.Required {
				return nil, fmt.Errorf("%s is missing", f.Label())
			}
			continue
		}
		raw, err := f.check(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Label(), err)
		}
		name, _ := json.Marshal(f.Name) // a text: can't fail
		fmt.Fprintf(&kept, ",%s:%s", name, raw)
	}
	return append([]byte("{"), append(bytes.TrimPrefix(kept.Bytes(), []byte(",")), '}')...), nil
}

func (q Question) names() string {
	var all []string
	for _, f := range q.Fields {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

func (q Question) place(name string) int {
	for i, f := range q.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

func (f Field) check(v *strictjson.Value) (json.RawMessage, error) {
	switch f.Kind {
	case Text:
		if v.Kind != strictjson.String {
			return nil, fmt.Errorf("this must be a text")
		}
		switch n := utf8.RuneCountInString(v.String); {
		case f.Required && strings.TrimSpace(v.String) == "":
			return nil, fmt.Errorf("this must not be empty")
		case n < f.MinLength:
			return nil, fmt.Errorf("this needs %d characters or more, and has %d", f.MinLength, n)
		case n > f.MaxLength:
			return nil, fmt.Errorf("this has %d characters, and the limit is %d", n, f.MaxLength)
		}
		return json.Marshal(v.String)
	case Number, Integer:
		switch {
		case v.Kind != strictjson.Number || !sane(v.Number):
			return nil, fmt.Errorf("this must be a number")
		case f.Kind == Integer && !whole(v.Number):
			return nil, fmt.Errorf("this must be a whole number")
		case f.Minimum != "" && number(v.Number).Cmp(number(f.Minimum)) < 0:
			return nil, fmt.Errorf("this must be %s or more", f.Minimum)
		case f.Maximum != "" && number(v.Number).Cmp(number(f.Maximum)) > 0:
			return nil, fmt.Errorf("this must be %s or less", f.Maximum)
		}
		return json.RawMessage(v.Number), nil
	case YesNo:
		if v.Kind != strictjson.Bool {
			return nil, fmt.Errorf("this must be true or false")
		}
		return strconv.AppendBool(nil, v.Bool), nil
	case Pick:
		for _, c := range f.Choices {
			if same(c.Value, v) {
				return c.Value, nil
			}
		}
		return nil, fmt.Errorf("this must be one of %s", f.listed())
	}
	return nil, fmt.Errorf("this can't be answered: its kind %q is unknown", f.Kind)
}

// same reports whether a value is that of a choice.
func same(choice json.RawMessage, v *strictjson.Value) bool {
	c, err := strictjson.Parse(choice)
	if err != nil || c.Kind != v.Kind {
		return false
	}
	if v.Kind == strictjson.Number {
		return sane(v.Number) && sane(c.Number) && number(v.Number).Cmp(number(c.Number)) == 0
	}
	return v.Kind == strictjson.String && c.String == v.String
}

func (f Field) listed() string {
	var all []string
	for _, c := range f.Choices {
		all = append(all, string(c.Value))
	}
	return strings.Join(all, ", ")
}

// Value makes a field's value from what a form holds: of a field with options the place of one, counted from 1,
// otherwise what was typed. ok is false if nothing was, and the field is left out.
func (f Field) Value(typed string) (value json.RawMessage, ok bool) {
	if typed == "" || f.Kind != Text && strings.TrimSpace(typed) == "" {
		return nil, false
	}
	if options := f.Options(); options != nil {
		if place, err := strconv.Atoi(strings.TrimSpace(typed)); err == nil && place >= 1 && place <= len(options) {
			return options[place-1].Value, true
		}
	}
	if f.Kind == Number || f.Kind == Integer {
		if n := numeral(typed); json.Valid([]byte(n)) {
			return json.RawMessage(n), true
		}
	}
	value, _ = json.Marshal(typed) // a text: can't fail; Check refuses it where another kind is needed
	return value, true
}

// written is a number as people and browsers write it: its sign, its digits before and after the point, and its
// exponent.
var written = regexp.MustCompile(`^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$`)

// numeral is a number such as +5, 05, .5 or 5. as JSON writes it; what is none stays as it is.
func numeral(typed string) string {
	typed = strings.TrimSpace(typed)
	m := written.FindStringSubmatch(typed)
	if m == nil || m[2]+m[3] == "" {
		return typed
	}
	n := strings.TrimPrefix(m[1], "+") + cmp.Or(strings.TrimLeft(m[2], "0"), "0")
	if m[3] != "" {
		n += "." + m[3]
	}
	return n + m[4]
}

// Fill makes an answer from what a form holds, one text for each field, by the fields' places counted from 0; see
// Value. It is not checked yet.
func (q Question) Fill(typed []string) json.RawMessage {
	values := map[string]json.RawMessage{}
	for i, f := range q.Fields {
		if i >= len(typed) {
			break
		}
		if value, ok := f.Value(typed[i]); ok {
			values[f.Name] = value
		}
	}
	if !q.Form {
		if value, ok := values[q.Fields[0].Name]; ok {
			return value
		}
		return json.RawMessage(`""`)
	}
	answer, _ := json.Marshal(values) // values are valid JSON: can't fail
	return answer
}

// Typed is the place of the option that a person wrote by its number or its title, whatever the case unless case tells
// titles apart, as text; otherwise what they wrote.
func (f Field) Typed(text string) string {
	text = strings.TrimSpace(text)
	if i := slices.IndexFunc(f.Options(), func(c Choice) bool { return c.Title == text }); i >= 0 {
		return strconv.Itoa(i + 1)
	}
	for i, c := range f.Options() {
		if strings.EqualFold(text, c.Title) || f.Kind == YesNo && strings.EqualFold(text, c.Title[:1]) {
			return strconv.Itoa(i + 1)
		}
	}
	return text
}

// Shown is an answer for people: a line for each field of a form, and the title of a choice. An answer that Check
// refuses is shown as it is.
func (q Question) Shown(answer json.RawMessage) string {
	v, err := strictjson.Parse(answer)
	if err != nil || q.Form && v.Kind != strictjson.Object || len(q.Fields) == 0 {
		return string(answer)
	}
	if !q.Form {
		return q.Fields[0].shown(v)
	}
	var lines []string
	for _, f := range q.Fields {
		if value := v.Get(f.Name); value != nil {
			lines = append(lines, f.Label()+": "+f.shown(value))
		}
	}
	return strings.Join(lines, "\n")
}

func (f Field) shown(v *strictjson.Value) string {
	for _, c := range f.Choices {
		if same(c.Value, v) {
			return c.Title
		}
	}
	switch v.Kind {
	case strictjson.String:
		return v.String
	case strictjson.Number:
		return string(v.Number)
	case strictjson.Bool:
		if v.Bool {
			return "Yes"
		}
		return "No"
	}
	return "–"
}
