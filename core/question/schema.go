package question

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatehouse/core/strictjson"
)

// New makes a question from its text and the JSON Schema of its answer; without a schema the answer is a text. The
// schema is one string, number, integer, boolean or enum, or an object of at most MaxFields of them. The error says
// what is wrong, and how to write it.
func New(text string, schema json.RawMessage) (Question, error) {
	q := Question{Text: strings.TrimSpace(text)}
	switch n := utf8.RuneCountInString(q.Text); {
	case n == 0:
		return q, fmt.Errorf("the question has no text")
	case n > MaxText:
		return q, fmt.Errorf("the question has %d characters, and the limit is %d", n, MaxText)
	}
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"string"}`)
	}
	v, err := strictjson.Parse(schema)
	switch {
	case err != nil:
		return q, fmt.Errorf("the schema is not valid JSON: %w", err)
	case v.Kind != strictjson.Object:
		return q, fmt.Errorf(`the schema must be an object, such as {"type":"string"}`)
	case textOf(v.Get("type")) == "object":
		q.Form = true
		q.Fields, err = form(v)
		return q, err
	}
	f, err := field(v)
	f.Required = true
	q.Fields = []Field{f}
	return q, err
}

// known are the keywords of each kind of schema. Those of remarks say nothing about values that would have to be
// checked, and a format is checked by who asks.
var (
	remarks = []string{"type", "title", "description", "default", "examples", "$schema", "$comment"}
	known   = map[string][]string{
		"object":  {"properties", "required", "additionalProperties"},
		"string":  {"enum", "oneOf", "enumNames", "minLength", "maxLength", "format"},
		"number":  {"enum", "oneOf", "minimum", "maximum"},
		"integer": {"enum", "oneOf", "minimum", "maximum"},
		"boolean": {},
		"":        {"enum", "oneOf"},
	}
)

func keywords(v *strictjson.Value, kind string) error {
	for _, m := range v.Members {
		if !slices.Contains(remarks, m.Key) && !slices.Contains(known[kind], m.Key) {
			return fmt.Errorf("%s can't be used here; of a schema of the type %q people can be shown %s",
				strconv.Quote(m.Key), kind,
				strings.Join(append(slices.Clone(known[kind]), remarks[:3]...), ", "))
		}
	}
	return nil
}

func form(v *strictjson.Value) ([]Field, error) {
	if err := keywords(v, "object"); err != nil {
		return nil, err
	}
	properties := v.Get("properties")
	if properties == nil || properties.Kind != strictjson.Object || len(properties.Members) == 0 {
		return nil,
			fmt.Errorf(
				`the schema's object has no properties; write it like {"type":"object",` +
					`"properties":{"reason":{"type":"string"}}}`)
	}
	if n := len(properties.Members); n > MaxFields {
		return nil, fmt.Errorf("the form has %d fields, and the limit is %d", n, MaxFields)
	}
	var fields []Field
	for _, m := range properties.Members {
		if m.Key == "" || m.Value.Kind != strictjson.Object {
			return nil, fmt.Errorf("the property %q is not a schema with a name", m.Key)
		}
		f, err := field(m.Value)
		if err != nil {
			return nil, fmt.Errorf("of the property %q, %w", m.Key, err)
		}
		if f.Name = m.Key; utf8.RuneCountInString(f.Label()) > MaxTitle {
			return nil,
				fmt.Errorf("the property %q has a name of more than %d characters; give it a shorter title", m.Key,
					MaxTitle)
		}
		fields = append(fields, f)
	}
	if required := v.Get("required"); required != nil {
		if required.Kind != strictjson.Array {
			return nil, fmt.Errorf("required is not a list of names")
		}
		for _, name := range required.Items {
			i := slices.IndexFunc(fields, func(f Field) bool {
				return name.Kind == strictjson.String && f.Name == name.String
			})
			if i < 0 {
				return nil, fmt.Errorf("required names a property that is not there")
			}
			fields[i].Required = true
		}
	}
	return fields, nil
}

func field(v *strictjson.Value) (Field, error) {
	kind := textOf(v.Get("type"))
	if t := v.Get("type"); t != nil && kind == "" || kind == "object" || known[kind] == nil {
		return Field{}, fmt.Errorf("the type is none of string, number, integer and boolean")
	}
	if err := keywords(v, kind); err != nil {
		return Field{}, err
	}
	f := Field{Title: textOf(v.Get("title")), Hint: cut(textOf(v.Get("description")), MaxHint)}
	if utf8.RuneCountInString(f.Title) > MaxTitle {
		return f, fmt.Errorf("the title has more than %d characters", MaxTitle)
	}
	if v.Get("enum") != nil || v.Get("oneOf") != nil {
		f.Kind = Pick
		err := f.choices(v, kind)
		return f, err
	}
	switch kind {
	case "string":
		f.Kind = Text
		return f, f.lengths(v)
	case "number", "integer":
		f.Kind = Number
		if kind == "integer" {
			f.Kind = Integer
		}
		return f, f.bounds(v)
	case "boolean":
		f.Kind = YesNo
		return f, nil
	}
	return f, fmt.Errorf("the type is missing; use string, number, integer or boolean, or an enum")
}

// choices reads an enum, with enumNames or without, or a oneOf of constants with titles.
func (f *Field) choices(v *strictjson.Value, kind string) error {
	add := func(value, title *strictjson.Value) error {
		switch {
		case value == nil || value.Kind != strictjson.String && value.Kind != strictjson.Number:
			return fmt.Errorf("a choice is neither a text nor a number")
		case kind == "string" && value.Kind != strictjson.String,
			(kind == "number" || kind == "integer") && value.Kind != strictjson.Number,
			kind == "integer" && !whole(value.Number):
			return fmt.Errorf("a choice is not of the type %s", kind)
		}
		raw := json.RawMessage(value.Number)
		label := string(value.Number)
		if value.Kind == strictjson.String {
			raw, _ = json.Marshal(value.String) // a text: can't fail
			label = value.String
		}
		if t := textOf(title); t != "" {
			label = t
		}
		switch {
		case strings.TrimSpace(label) == "":
			return fmt.Errorf("a choice is empty")
		case utf8.RuneCountInString(label) > MaxLabel:
			return fmt.Errorf("the choice %q has more than %d characters; give it a shorter title with oneOf: "+
				"[{\"const\":…,\"title\":…}]", cut(label, 40), MaxLabel)
		case slices.ContainsFunc(f.Choices, func(c Choice) bool {
			return string(c.Value) == string(raw) || c.Title == label
		}):
			return fmt.Errorf("the choice %q is there twice", label)
		}
		f.Choices = append(f.Choices, Choice{Value: raw, Title: label})
		return nil
	}
	one, enum, names := v.Get("oneOf"), v.Get("enum"), v.Get("enumNames")
	if one != nil && enum != nil {
		return fmt.Errorf("there are both enum and oneOf, and people can choose from one of them")
	}
	if enum != nil {
		for i, item := range enum.Items {
			var title *strictjson.Value
			if names != nil && i < len(names.Items) {
				title = names.Items[i]
			}
			if err := add(item, title); err != nil {
				return err
			}
		}
	} else {
		for _, item := range one.Items {
			if item.Kind != strictjson.Object {
				return fmt.Errorf(`an entry of oneOf is not like {"const":"a","title":"A"}`)
			}
			if err := add(item.Get("const"), item.Get("title")); err != nil {
				return err
			}
		}
	}
	if n := len(f.Choices); n == 0 || n > MaxChoices {
		return fmt.Errorf("there are %d choices, and there must be 1 to %d", n, MaxChoices)
	}
	return nil
}

func (f *Field) lengths(v *strictjson.Value) (err error) {
	f.MaxLength = MaxAnswer
	for key, to := range map[string]*int{"minLength": &f.MinLength, "maxLength": &f.MaxLength} {
		n := v.Get(key)
		if n == nil {
			continue
		}
		if *to, err = strconv.Atoi(string(n.Number)); err != nil || *to < 0 {
			return fmt.Errorf("%s is not a whole number from 0", key)
		}
	}
	if f.MaxLength = min(f.MaxLength, MaxAnswer); f.MaxLength == 0 || f.MinLength > f.MaxLength {
		return fmt.Errorf("no text can have from %d to %d characters", f.MinLength, f.MaxLength)
	}
	return nil
}

func (f *Field) bounds(v *strictjson.Value) error {
	for key, to := range map[string]*json.Number{"minimum": &f.Minimum, "maximum": &f.Maximum} {
		n := v.Get(key)
		if n == nil {
			continue
		}
		if n.Kind != strictjson.Number || !sane(n.Number) {
			return fmt.Errorf("%s is not a number", key)
		}
		*to = n.Number
	}
	if f.Minimum != "" && f.Maximum != "" && number(f.Minimum).Cmp(number(f.Maximum)) > 0 {
		return fmt.Errorf("no number is from %s to %s", f.Minimum, f.Maximum)
	}
	return nil
}

// sane reports whether a number is small enough, and written with few enough digits, to be calculated with exactly.
func sane(n json.Number) bool {
	_, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	_, err := strconv.ParseFloat(string(n), 64)
	return err == nil && len(n) <= 40 && len(strings.TrimLeft(exponent, "+-0")) <= 3
}

// number is the exact value of a sane number.
func number(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

func whole(n json.Number) bool { return sane(n) && number(n).IsInt() }

func textOf(v *strictjson.Value) string {
	if v == nil || v.Kind != strictjson.String {
		return ""
	}
	return v.String
}

// cut shortens a text to so many characters.
func cut(s string, most int) string {
	r := []rune(s)
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
