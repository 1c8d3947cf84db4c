package inbound

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core/strictjson"
)

// Decode reads a platform's JSON, which says who did what, into the zero value that into points to. encoding/json alone
// ignores the case of keys and lets the last of several win: a "USER" after the "user" would be the person who acts.
// Here a field is read from the key of exactly its name, and a key that is read may be there only once; all other keys
// may have any form. Keys inside a json.RawMessage, which becomes a part of data, and inside a type with a decoder of
// its own, are not looked at. JSONFault describes the error. If a value has the wrong type, all others are read; after
// any other error nothing is.
func Decode(data []byte, into any) error {
	d := decoder{Reader: strictjson.NewReader(data, strictjson.Replace)}
	v := reflect.ValueOf(into).Elem()
	err := d.value(v)
	if err == nil {
		err = d.End()
	}
	if err != nil {
		v.SetZero()
		return err
	}
	if d.wrong != nil {
		return d.wrong
	}
	return nil
}

// repeatedKey is the error for a key that is read and is there more than once.
type repeatedKey struct{ key string }

func (e *repeatedKey) Error() string {
	return fmt.Sprintf("the key %q is repeated", safetext.Clip(e.key))
}

// wrongType is the error for a value that its field can't hold.
type wrongType struct{ fields []string } // the field, and those around it, the innermost first

func (e *wrongType) Error() string {
	path := slices.Clone(e.fields)
	slices.Reverse(path)
	return "the field " + strings.Join(path, ".") + " has the wrong type"
}

// decoder is the state of Decode.
type decoder struct {
	*strictjson.Reader
	wrong *wrongType // the first
}

// value reads a value into v. A wrong type is no error here.
func (d *decoder) value(v reflect.Value) error {
	kind, t := d.Kind(), v.Type()
	switch form := formOf(t); {
	case t == reflect.TypeFor[json.RawMessage]():
		raw, err := d.Skip()
		v.SetBytes(raw)
		return err
	case form.itself:
		return d.leaf(v)
	case kind == strictjson.Null:
		_, err := d.Skip()
		return err
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return d.value(v.Elem())
	case t.Kind() == reflect.Struct && kind != strictjson.Object:
		d.refuse()
		_, err := d.Skip()
		return err
	case t.Kind() == reflect.Struct:
		return d.members(form, v)
	case kind == strictjson.Object && t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		return d.entries(v)
	case kind == strictjson.Array && t.Kind() == reflect.Slice:
		return d.items(v)
	case kind == strictjson.String && t.Kind() == reflect.String:
		text, err := d.String()
		v.SetString(string(text))
		return err
	}
	return d.leaf(v)
}

// leaf reads a value as encoding/json does.
func (d *decoder) leaf(v reflect.Value) error {
	raw, err := d.Skip()
	if err == nil && json.Unmarshal(raw, v.Addr().Interface()) != nil {
		d.refuse()
	}
	return err
}

// refuse notes that a value has the wrong type.
func (d *decoder) refuse() {
	if d.wrong == nil {
		d.wrong = &wrongType{}
	}
}

// members reads an object into the fields of a struct.
func (d *decoder) members(form *form, v reflect.Value) error {
	read := make([]bool, len(form.fields))
	return d.Object(func(key []byte) error {
		f := form.fields[string(key)]
		if f == nil {
			_, err := d.Skip()
			return err
		}
		if read[f.n] {
			return &repeatedKey{f.name}
		}
		read[f.n] = true
		before := d.wrong
		err := d.member(f, f.of(v))
		if d.wrong != before {
			d.wrong.fields = append(d.wrong.fields, f.name)
		}
		return err
	})
}

// member reads a value into a field.
func (d *decoder) member(f *field, v reflect.Value) error {
	if !f.quoted || d.Kind() == strictjson.Null {
		return d.value(v)
	}
	if d.Kind() != strictjson.String {
		d.refuse()
		_, err := d.Skip()
		return err
	}
	text, err := d.String()
	if err == nil && (len(bytes.TrimSpace(text)) < len(text) || json.Unmarshal(text, v.Addr().Interface()) != nil) {
		d.refuse()
	}
	return err
}

// entries reads an object into a map.
func (d *decoder) entries(v reflect.Value) error {
	t := v.Type()
	v.Set(reflect.MakeMap(t))
	return d.Object(func(name []byte) error {
		key := reflect.ValueOf(string(name)).Convert(t.Key())
		if v.MapIndex(key).IsValid() {
			return &repeatedKey{key.String()}
		}
		one := reflect.New(t.Elem()).Elem()
		err := d.value(one)
		v.SetMapIndex(key, one)
		return err
	})
}

// items reads an array into a slice.
func (d *decoder) items(v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return d.Array(func() error {
		n := v.Len()
		v.Grow(1)
		v.SetLen(n + 1)
		return d.value(v.Index(n))
	})
}

// form is how a type is read.
type form struct {
	itself bool              // it has a decoder of its own
	fields map[string]*field // of a struct, by their names in JSON, those of embedded structs among them
}

// field is a field of a struct.
type field struct {
	n      int // of the fields of its struct
	name   string
	index  []int
	quoted bool // its value is written in a string
}

// of returns the field of a struct. It makes the embedded structs around it that are pointers.
func (f *field) of(v reflect.Value) reflect.Value {
	for i, n := range f.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
}

// forms caches the forms of types, by reflect.Type.
var forms sync.Map

func formOf(t reflect.Type) *form {
	if known, ok := forms.Load(t); ok {
		return known.(*form)
	}
	made := &form{fields: map[string]*field{}}
	p := reflect.PointerTo(t)
	made.itself = p.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	if t.Kind() == reflect.Struct {
		made.add(t, nil)
	}
	known, _ := forms.LoadOrStore(t, made)
	return known.(*form)
}

// add adds the fields of a struct, which is embedded at index. Where two have the same name, the outer one is read.
func (m *form) add(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f, at := t.Field(i), append(slices.Clone(index), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer && f.IsExported() { // another can't be made
			inner = inner.Elem()
		}
		switch {
		case name == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			m.add(inner, at)
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		n := len(m.fields)
		if other := m.fields[name]; other != nil {
			if n = other.n; len(other.index) <= len(at) {
				continue
			}
		}
		m.fields[name] = &field{
			n: n, name: name, index: at, quoted: slices.Contains(strings.Split(options, ","), "string"),
		}
	}
}
