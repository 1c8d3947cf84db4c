package chat

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"gatehouse/core/strictjson"
)

// Decode reads a platform's JSON, which says who did what, into the struct that into points to. encoding/json alone ignores the case of
// keys and lets the last of several win: a "USER" after the "user" would be the person who acts. Here a field is read from the key of
// exactly its name, and a key that is read may be there only once; all other keys may have any form. Keys inside a json.RawMessage, and
// inside a type with a decoder of its own, are not looked at. JSONFault describes the error.
func Decode(data []byte, into any) error {
	v, err := strictjson.Parse(data, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return err
	}
	exact, err := appendExact(nil, data, v, reflect.TypeOf(into).Elem())
	if err != nil {
		return err
	}
	return json.Unmarshal(exact, into)
}

// repeatedKey is the error for a key that is read and is there more than once.
type repeatedKey struct{ key string }

func (e *repeatedKey) Error() string { return fmt.Sprintf("the key %q is repeated", Clip(e.key)) }

// appendExact appends the part of a value that is decoded into type t, without all that encoding/json could mistake for it.
func appendExact(b, data []byte, v *strictjson.Value, t reflect.Type) ([]byte, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	decodesItself := reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
	switch {
	case decodesItself:
	case v.Kind == strictjson.Object && t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		return appendMembers(b, data, v, func(key string) reflect.Type { return fields[key] })
	case v.Kind == strictjson.Object && t.Kind() == reflect.Map:
		return appendMembers(b, data, v, func(string) reflect.Type { return t.Elem() })
	case v.Kind == strictjson.Array && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendExact(b, data, item, t.Elem()); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return append(b, v.Raw(data)...), nil
}

// appendMembers appends those members of an object for whose key there is a type.
func appendMembers(b, data []byte, v *strictjson.Value, typeOf func(key string) reflect.Type) ([]byte, error) {
	b = append(b, '{')
	seen := map[string]bool{}
	for _, m := range v.Members {
		t := typeOf(m.Key)
		if t == nil {
			continue
		}
		if seen[m.Key] {
			return nil, &repeatedKey{m.Key}
		}
		if len(seen) > 0 {
			b = append(b, ',')
		}
		seen[m.Key] = true
		key, err := json.Marshal(m.Key)
		if err != nil {
			return nil, err
		}
		b = append(append(b, key...), ':')
		if b, err = appendExact(b, data, m.Value, t); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// structs caches the fields of struct types, which fieldsOf reads.
var structs sync.Map

// fieldsOf returns the types of a struct's fields by their names in JSON, those of embedded structs among them.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := structs.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "", name == "-", !f.IsExported():
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	structs.Store(t, fields)
	return fields
}
