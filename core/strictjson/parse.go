package strictjson

import "encoding/json"

// Parse reads exactly one JSON value. The error is always an *Error.
func Parse(data []byte, opts ...Option) (*Value, error) {
	r := NewReader(data, opts...)
	v, err := r.value()
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (r *Reader) value() (*Value, error) {
	if r.values++; r.values > MaxValues && !r.trusted {
		return nil, r.fail(TooMany, "more than %d values", MaxValues)
	}
	v := &Value{Kind: r.Kind(), Line: r.line, Column: r.column(), start: r.pos}
	var err error
	switch v.Kind {
	case Object:
		v.Members, err = r.members()
	case Array:
		v.Items, err = r.items()
	case String:
		var text []byte
		text, err = r.String()
		v.String = string(text)
	case Number:
		err = r.number()
		v.Number = json.Number(r.data[v.start:r.pos])
	default:
		v.Bool = r.peek() == 't'
		err = r.skip()
	}
	if err != nil {
		return nil, err
	}
	v.end = r.pos
	return v, nil
}

func (r *Reader) members() ([]Member, error) {
	members := []Member{}
	seen := map[string]bool{}
	err := r.Object(func(key []byte) (err error) {
		m := Member{Key: string(key), Line: r.keyLine, Column: r.keyColumn}
		if !r.repeats && seen[m.Key] {
			e := r.fail(DuplicateKey, "the key %q is repeated", m.Key)
			e.Line, e.Column = m.Line, m.Column
			return e
		}
		seen[m.Key] = true
		m.Value, err = r.value()
		members = append(members, m)
		return err
	})
	return members, err
}

func (r *Reader) items() ([]*Value, error) {
	items := []*Value{}
	err := r.Array(func() error {
		v, err := r.value()
		items = append(items, v)
		return err
	})
	return items, err
}
