package expr

import "strings"

// Template is a compiled template.
type Template struct {
	found
	parts   []part
	unknown []string
}

// part is a text, or a reference if it is not nil.
type part struct {
	text  string
	value node
}

// CompileTemplate compiles a template. It can't fail: what is not a placeholder is text.
func CompileTemplate(text string) *Template {
	t := &Template{}
	written := 0 // up to here, text is in parts
	for at := 0; ; {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			break
		}
		open += at
		inner := open + len("{{")
		length := strings.IndexAny(text[inner:], "{}")
		if length < 0 {
			break
		}
		closing := inner + length
		switch {
		case length == 0 && text[closing] == '{':
			at = open + 1
			continue
		case !strings.HasPrefix(text[closing:], "}}"):
			at = closing
			continue
		}
		at = closing + len("}}")
		value, ok := t.placeholder(text[inner:closing], inner)
		if !ok {
			t.unknown = append(t.unknown, strings.TrimSpace(text[inner:closing]))
			continue
		}
		t.parts = append(t.parts, part{text: text[written:open]}, part{value: value})
		written = at
	}
	t.parts = append(t.parts, part{text: text[written:]})
	return t
}

// placeholder compiles what stands between braces, at an offset of the template.
func (t *Template) placeholder(inner string, offset int) (node, bool) {
	if !isRooted(strings.TrimSpace(inner)) || len(inner) > maxLength {
		return nil, false
	}
	p := &parser{text: inner}
	if p.next() != nil {
		return nil, false
	}
	value, err := p.reference(p.token.text, p.token.start)
	if err != nil || p.end() != nil {
		return nil, false
	}
	ref := p.refs[0]
	ref.Column += offset
	t.refs = append(t.refs, ref)
	return value, true
}

// Render inserts the values. What is inserted is never read as a template. ok is false, and text empty, if it would be
// longer than limit bytes.
func (t *Template) Render(s Scope, limit int) (text string, ok bool) {
	var b strings.Builder
	for _, p := range t.parts {
		inserted := p.text
		if p.value != nil {
			inserted = textOf(p.value.eval(s))
		}
		if b.Len()+len(inserted) > limit {
			return "", false
		}
		b.WriteString(inserted)
	}
	return b.String(), true
}

// Unknown returns what is in double braces and is not a placeholder, such as places.length.
func (t *Template) Unknown() []string { return t.unknown }
