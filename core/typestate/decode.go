package typestate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Decode parses a join check's input: strictly typed, exact keys, unknown keys ignored. The error is of category
// invalid; its message states where and what. Blank texts are judged by Normalize.
func Decode(data []byte) (Input, error) {
	r, tree := newReader(data)
	var in Input
	r.value("", tree, reflect.ValueOf(&in).Elem())
	if r.err != nil {
		return Input{}, r.err
	}
	return in, nil
}

// maxPayloadDepth is how deep a free-form part may nest: the reference allows 127 levels, four of them around the part.
const maxPayloadDepth = 123

var rawType = reflect.TypeFor[json.RawMessage]()

// reader reads typed values from a tree and keeps the first fault. A member is described by its field's tags:
//
//   - it is required, unless its JSON may omit it (omitempty) or the field has a default;
//   - an optional text, pointer or free-form part may be null, which is the same as absent; a list or a flag may not.
//
// Keys are matched exactly; keys that no field has are ignored, even if they are repeated.
type reader struct {
	data []byte
	err  error
}

// newReader parses a text. Repeated keys are faults only where they are read.
func newReader(data []byte) (*reader, *strictjson.Value) {
	r := &reader{data: data}
	tree, err := strictjson.Parse(data, strictjson.Repeats, strictjson.Trusted)
	if err != nil {
		r.err = core.Wrap(core.Invalid, err, "%s", err)
	}
	return r, tree
}

func (r *reader) fail(at, format string, args ...any) {
	if r.err == nil {
		if at == "" {
			at = "the input"
		}
		r.err = core.Errorf(core.Invalid, at+" "+format, args...)
	}
}

// is reports whether v is of a kind; otherwise that is a fault.
func (r *reader) is(at string, v *strictjson.Value, want strictjson.Kind, name string) bool {
	if v != nil && v.Kind == want {
		return true
	}
	got := "absent"
	if v != nil {
		got = string(v.Kind)
	}
	r.fail(at, "must be %s, not %s", name, got)
	return false
}

// value reads v into to.
func (r *reader) value(at string, v *strictjson.Value, to reflect.Value) {
	switch kind := to.Kind(); {
	case to.Type() == rawType:
		if fault := unusable(v, 0); fault != "" {
			r.fail(at, "%s", fault)
			return
		}
		to.SetBytes(v.Raw(r.data))
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		r.value(at, v, to.Elem())
	case kind == reflect.Struct && r.is(at, v, strictjson.Object, "an object"):
		for i := range to.NumField() {
			r.member(at, v, to.Type().Field(i), to.Field(i))
		}
	case kind == reflect.Slice && r.is(at, v, strictjson.Array, "an array"):
		for i, item := range v.Items {
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			r.value(fmt.Sprintf("%s[%d]", at, i), item, to.Index(i))
		}
	case kind == reflect.String && r.is(at, v, strictjson.String, "a string"):
		to.SetString(v.String)
	case kind == reflect.Bool && r.is(at, v, strictjson.Bool, "true or false"):
		to.SetBool(v.Bool)
	}
}

// member reads the member of an object that a field describes.
func (r *reader) member(at string, object *strictjson.Value, f reflect.StructField, to reflect.Value) {
	key, optional := keyOf(f)
	if at != "" {
		at += "."
	}
	at += key
	v := r.get(at, object, key)
	nullable := to.Kind() == reflect.String || to.Kind() == reflect.Pointer || to.Type() == rawType
	if optional && (v == nil || v.Kind == strictjson.Null && nullable) {
		return
	}
	r.value(at, v, to)
}

// keyOf is the JSON key of a field, and whether it may be absent.
func keyOf(f reflect.StructField) (key string, optional bool) {
	key, option, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key, option == "omitempty" || f.Tag.Get("default") != ""
}

// get gives the member of that key; nil if there is none. A repeated key is a fault.
func (r *reader) get(at string, object *strictjson.Value, key string) *strictjson.Value {
	var found *strictjson.Value
	for _, m := range object.Members {
		if m.Key != key {
			continue
		}
		if found != nil {
			r.fail(at, "is repeated")
		}
		found = m.Value
	}
	return found
}

// unusable states why a free-form part has no canonical form; "" = it has one.
func unusable(v *strictjson.Value, depth int) string {
	if v.Kind == strictjson.Number {
		if _, err := v.Number.Float64(); err != nil {
			return "holds a number out of range"
		}
		return ""
	}
	nested := v.Items
	for _, m := range v.Members {
		nested = append(nested, m.Value)
	}
	if v.Kind == strictjson.Array || v.Kind == strictjson.Object {
		if depth++; depth > maxPayloadDepth {
			return "is nested too deeply"
		}
	}
	for _, item := range nested {
		if fault := unusable(item, depth); fault != "" {
			return fault
		}
	}
	return ""
}
