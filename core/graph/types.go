package graph

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"gatehouse/core/strictjson"
)

// Type is the type of a field's values: how a value is checked and how it is read from JSON. Values are written by
// encoding/json.
type Type struct {
	name   string
	zero   func() any
	check  func(v any) error
	decode func(raw json.RawMessage) (any, error)
}

// Name is the type as errors show it.
func (t Type) Name() string { return t.name }

// Decode reads a value of the type from JSON, strictly: duplicate keys and wrong kinds are refused.
func (t Type) Decode(raw json.RawMessage) (any, error) { return t.decode(raw) }

// goType is the type of a typed key.
func goType[T any]() Type {
	typ := reflect.TypeFor[T]()
	nullable := slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface},
		typ.Kind()) ||
		reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]())
	return Type{
		name: typ.String(),
		zero: func() any { var z T; return z },
		check: func(v any) error {
			if _, ok := as[T](v); !ok {
				return fmt.Errorf("must be %s, not %T", typ, v)
			}
			return nil
		},
		decode: func(raw json.RawMessage) (any, error) {
			parsed, err := strictjson.Parse(raw, strictjson.Trusted)
			if err != nil {
				return nil, err
			}
			if parsed.Kind == strictjson.Null && !nullable {
				return nil, fmt.Errorf("must be %s, not null", typ)
			}
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return nil, err
			}
			return v, nil
		},
	}
}

// typed makes a type of run-time values from its check.
func typed(name string, zero func() any, check func(v any) error) Type {
	return Type{name: name, zero: zero, check: check, decode: func(raw json.RawMessage) (any, error) {
		parsed, err := strictjson.Parse(raw, strictjson.Trusted)
		if err != nil {
			return nil, err
		}
		v := plain(parsed.Any())
		return v, check(v)
	}}
}

func kindType(name string, zero any, kinds ...string) Type {
	return typed(name, func() any { return zero }, func(v any) error {
		if kind := kindOf(v); !slices.Contains(kinds, kind) {
			return fmt.Errorf("must be a %s, not %s", name, kind)
		}
		return nil
	})
}

// AnyType holds any JSON value.
func AnyType() Type {
	return typed("any", func() any { return nil }, func(any) error { return nil })
}

// StringType holds texts.
func StringType() Type { return kindType("string", "", "string") }

// BoolType holds true and false.
func BoolType() Type { return kindType("bool", false, "bool") }

// IntType holds integers.
func IntType() Type { return kindType("int", int64(0), "int") }

// FloatType holds numbers; an integer is one too.
func FloatType() Type { return kindType("float", float64(0), "float", "int") }

// ListType holds lists whose items are all of one type.
func ListType(item Type) Type {
	name := "list<" + item.name + ">"
	return typed(name, func() any { return []any{} }, func(v any) error {
		items, ok := v.([]any)
		if !ok {
			return fmt.Errorf("must be a %s, not %s", name, kindOf(v))
		}
		for i, it := range items {
			if err := item.check(it); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	})
}

// DictType holds mappings from texts to values of one type.
func DictType(value Type) Type {
	name := "dict<string, " + value.name + ">"
	return typed(name, func() any { return map[string]any{} }, func(v any) error {
		m, ok := v.(map[string]any)
		if !ok {
			return fmt.Errorf("must be a %s, not %s", name, kindOf(v))
		}
		for k, it := range m {
			if err := value.check(it); err != nil {
				return fmt.Errorf("[%q]: %w", k, err)
			}
		}
		return nil
	})
}

// kindOf names the kind of a run-time value.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "bool"
	case string:
		return "string"
	case int, int64:
		return "int"
	case float64:
		return "float"
	case []any:
		return "list"
	case map[string]any:
		return "dict"
	}
	return fmt.Sprintf("%T", v)
}

// plain turns JSON's numbers into int64 if they are written as integers, otherwise float64, everywhere in v.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// clone copies a value so deeply that no caller can change a state through it: slices, maps, pointers and the exported
// fields of structs. A type protects its unexported fields itself (core.History and core.Content never change in
// place).
func clone[T any](v T) T {
	switch any(v).(type) {
	case nil, bool, string, int, int64, float64:
		return v
	}
	src := reflect.ValueOf(&v).Elem()
	out := reflect.New(src.Type()).Elem()
	copyInto(out, src)
	return out.Interface().(T)
}

func copyInto(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		s := reflect.MakeSlice(src.Type(), src.Len(), src.Len())
		if isFlat(src.Type().Elem().Kind()) {
			reflect.Copy(s, src)
		} else {
			for i := range src.Len() {
				copyInto(s.Index(i), src.Index(i))
			}
		}
		dst.Set(s)
	case reflect.Array:
		for i := range src.Len() {
			copyInto(dst.Index(i), src.Index(i))
		}
	case reflect.Map:
		if src.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(src.Type(), src.Len())
		for iter := src.MapRange(); iter.Next(); {
			v := reflect.New(src.Type().Elem()).Elem()
			copyInto(v, iter.Value())
			m.SetMapIndex(iter.Key(), v)
		}
		dst.Set(m)
	case reflect.Pointer:
		if src.IsNil() {
			return
		}
		p := reflect.New(src.Type().Elem())
		copyInto(p.Elem(), src.Elem())
		dst.Set(p)
	case reflect.Interface:
		if src.IsNil() {
			return
		}
		v := reflect.New(src.Elem().Type()).Elem()
		copyInto(v, src.Elem())
		dst.Set(v)
	case reflect.Struct:
		dst.Set(src)
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	default:
		dst.Set(src)
	}
}

func isFlat(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}
