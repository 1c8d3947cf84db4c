package typestate

import (
	"encoding/json"
	"errors"
	"strconv"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// maxPayloadDepth is how deep a free-form part may nest: the reference allows 127 levels, four of them around the part.
const maxPayloadDepth = 123

// reader reads typed objects from a tree and keeps the first fault. Keys are matched exactly; keys that are not read are ignored, even
// if they are repeated.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(at, format string, args ...any) {
	if r.err == nil {
		r.err = core.Errorf(core.Invalid, at+" "+format, args...)
	}
}

// parse parses a text. Repeated keys are faults only where they are read.
func (r *reader) parse(data []byte) *strictjson.Value {
	r.data = data
	v, err := strictjson.Parse(data, strictjson.Repeats)
	var e *strictjson.Error
	if errors.As(err, &e) {
		r.err = core.Wrap(core.Invalid, err, "%s", e.Error())
	}
	return v
}

// object is a typed object and its position.
type object struct {
	r  *reader
	at string
	v  *strictjson.Value
}

func (r *reader) object(at string, v *strictjson.Value) object {
	if v == nil || v.Kind != strictjson.Object {
		r.fail(at, "must be an object, not %s", kind(v))
		v = &strictjson.Value{}
	}
	return object{r, at, v}
}

func kind(v *strictjson.Value) string {
	if v == nil {
		return "absent"
	}
	return string(v.Kind)
}

// get gives the member of that key; nil if there is none. A repeated key is a fault.
func (o object) get(key string) *strictjson.Value {
	var found *strictjson.Value
	for _, m := range o.v.Members {
		if m.Key != key {
			continue
		}
		if found != nil {
			o.r.fail(o.in(key), "is repeated")
		}
		found = m.Value
	}
	return found
}

func (o object) in(key string) string {
	if o.at == "" {
		return key
	}
	return o.at + "." + key
}

func absent(v *strictjson.Value) bool { return v == nil || v.Kind == strictjson.Null }

// text is a required text; it may be blank.
func (o object) text(key string) string {
	v := o.get(key)
	if v == nil || v.Kind != strictjson.String {
		o.r.fail(o.in(key), "must be a string, not %s", kind(v))
		return ""
	}
	return v.String
}

// maybe is an optional text; absent, null and blank are the same.
func (o object) maybe(key string) string {
	if absent(o.get(key)) {
		return ""
	}
	return o.text(key)
}

// flag is a required boolean.
func (o object) flag(key string) bool {
	v := o.get(key)
	if v == nil || v.Kind != strictjson.Bool {
		o.r.fail(o.in(key), "must be true or false, not %s", kind(v))
		return false
	}
	return v.Bool
}

// flagOr is a boolean that is false if absent; null is a fault.
func (o object) flagOr(key string) bool {
	return o.get(key) != nil && o.flag(key)
}

// maybeFlag is an optional boolean.
func (o object) maybeFlag(key string) *bool {
	if absent(o.get(key)) {
		return nil
	}
	b := o.flag(key)
	return &b
}

// child is a required object; maybeChild an optional one.
func (o object) child(key string) object { return o.r.object(o.in(key), o.get(key)) }

func (o object) maybeChild(key string) (object, bool) {
	if absent(o.get(key)) {
		return object{}, false
	}
	return o.child(key), true
}

// items is a list that is empty if absent; null is a fault.
func (o object) items(key string) []*strictjson.Value {
	v := o.get(key)
	if v == nil {
		return nil
	}
	if v.Kind != strictjson.Array {
		o.r.fail(o.in(key), "must be an array, not %s", v.Kind)
		return nil
	}
	return v.Items
}

func (o object) texts(key string) []string {
	var all []string
	for i, item := range o.items(key) {
		if item.Kind != strictjson.String {
			o.r.fail(o.in(key)+"["+strconv.Itoa(i)+"]", "must be a string, not %s", item.Kind)
			return nil
		}
		all = append(all, item.String)
	}
	return all
}

// rows reads a list of objects.
func rows[T any](o object, key string, read func(object) T) []T {
	var all []T
	for i, item := range o.items(key) {
		all = append(all, read(o.r.object(o.in(key)+"["+strconv.Itoa(i)+"]", item)))
	}
	return all
}

// raw is an optional part of any form; null is absent.
func (o object) raw(key string) json.RawMessage {
	v := o.get(key)
	if absent(v) {
		return nil
	}
	if fault := unusable(v, 0); fault != "" {
		o.r.fail(o.in(key), "%s", fault)
		return nil
	}
	return v.Raw(o.r.data)
}

// unusable says why a free-form part has no canonical form; "" = it has one.
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
