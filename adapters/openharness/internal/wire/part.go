package wire

import (
	"encoding/json"
	"fmt"

	"gatehouse/core/strictjson"
)

// decoder keeps the first fault of a message.
type decoder struct {
	limits Limits
	fault  *Fault
}

// refuse sets an invalid_request, unless there is a fault already. The arguments must be ours, never a value or an
// unknown key of the body.
func (d *decoder) refuse(field, format string, args ...any) {
	d.fail(Fault{Code: InvalidRequest, Message: fmt.Sprintf(format, args...), Field: field})
}

func (d *decoder) fail(f Fault) {
	if d.fault == nil {
		d.fault = &f
	}
}

// part is one object of a message. Its methods read declared fields. A field that is absent gives a zero value; so does
// one of another type, which is a fault.
type part struct {
	*decoder
	v    *strictjson.Value // nil if the object is absent
	path string            // of the object, as a Fault names it
}

// at is the path of a field.
func (p part) at(key string) string {
	if p.path == "" {
		return key
	}
	return p.path + "." + key
}

var kinds = map[strictjson.Kind]string{
	strictjson.String: "a string", strictjson.Object: "an object", strictjson.Array: "an array",
	strictjson.Number: "a number",
}

func (p part) get(key string, kind strictjson.Kind) *strictjson.Value {
	v := p.v.Get(key)
	if v != nil && v.Kind != kind {
		p.refuse(p.at(key), "The field %s must be %s.", p.at(key), kinds[kind])
		return nil
	}
	return v
}

func (p part) required(key string, kind strictjson.Kind) *strictjson.Value {
	if p.v.Get(key) == nil {
		p.refuse(p.at(key), "The field %s is missing.", p.at(key))
	}
	return p.get(key, kind)
}

func (p part) object(key string) part {
	return part{p.decoder, p.get(key, strictjson.Object), p.at(key)}
}

func (p part) text(key string) string {
	if v := p.get(key, strictjson.String); v != nil {
		return v.String
	}
	return ""
}

// any is a field of any kind but null, as JSON with the keys sorted; nil if it is absent.
func (p part) any(key string) json.RawMessage {
	v := p.v.Get(key)
	if v == nil || v.Kind == strictjson.Null {
		return nil
	}
	raw, _ := json.Marshal(v.Any()) // what was JSON can't fail
	return raw
}

// texts reads a list of at most so many strings.
func (p part) texts(key string, most int) (all []string) {
	v := p.get(key, strictjson.Array)
	if v == nil {
		return nil
	}
	for _, item := range v.Items {
		if item.Kind != strictjson.String || len(all) == most {
			p.refuse(p.at(key), "The field %s must be a list of at most %d strings.", p.at(key), most)
			return nil
		}
		all = append(all, item.String)
	}
	return all
}
