package graph

import (
	"encoding/json"
	"fmt"
	"reflect"

	"gatehouse/core/strictjson"
)

// Type is what a field may hold: how a value is checked and how it is read from JSON. Values are written by encoding/json.
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
	nullable := typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map || typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Interface
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		nullable = true
	}
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
			parsed, err := strictjson.Parse(raw)
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
		parsed, err := strictjson.Parse(raw)
		if err != nil {
			return nil, err
		}
		v := plain(parsed.Any())
		return v, check(v)
	}}
}

func kindType(name string, zero any, kinds ...string) Type {
	return typed(name, func() any { return zero }, func(v any) error {
		kind := kindOf(v)
		for _, k := range kinds {
			if k == kind {
				return nil
			}
		}
		return fmt.Errorf("must be a %s, not %s", name, kind)
	})
}

// AnyType holds whatever JSON can hold.
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

// plain turns JSON's numbers into int64 where they are written as integers, else float64, everywhere inside v.
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
