package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Canonical gives JSON in the one form that is sent (llm-provider §8): keys sorted at every depth, no white space,
// numbers in the digits that they were written in, texts without needless escapes. Equal requests give equal bytes, so
// that a vendor's cache of prefixes holds.
func Canonical(data []byte) ([]byte, error) {
	v, err := strictjson.Parse(data, strictjson.Trusted)
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The request is not valid JSON.")
	}
	return CanonicalValue(v), nil
}

// CanonicalValue is Canonical of a value that was parsed before; of a key that is there twice the last counts.
func CanonicalValue(v *strictjson.Value) []byte {
	text := v.AppendCanonical(nil, nil)
	for _, separator := range []string{"\u2028", "\u2029"} { // which encoding/json escapes, too
		if bytes.Contains(text, []byte(separator)) {
			text = bytes.ReplaceAll(text, []byte(separator), []byte(strings.Trim(strconv.QuoteToASCII(separator), `"`)))
		}
	}
	return text
}

// TextList is a field of a request's body that is a list of texts.
type TextList struct {
	Key    string
	Scalar bool // the vendor takes a text by itself for a list of one
}

// MergeExtra adds the extra settings to the root of a request's body (llm-provider §6, managed-field collision). A key
// that the body does not have is added as it is. One that it has, because the request sets it, is
//   - merged, if it is the list: the body's texts, then the extra ones, each once. An extra value of another form
//     counts as absent;
//   - else a repetition without effect if the values are equal, and provider_invalid_request if they are not.
//
// body is changed; extra is not.
func MergeExtra(body, extra map[string]json.RawMessage, list TextList) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		set, there := body[key]
		if key == list.Key {
			added, ok := list.texts(extra[key])
			if !ok {
				continue
			}
			if there {
				merged, err := mergeTexts(set, added)
				if err != nil {
					return err
				}
				body[key] = merged
				continue
			}
		}
		if !there {
			body[key] = extra[key]
			continue
		}
		a, err := strictjson.Parse(set)
		if err != nil {
			return core.Wrap(core.ProviderInvalidRequest, err, "The setting %s is not valid JSON.", key)
		}
		b, err := strictjson.Parse(extra[key])
		if err != nil {
			return core.Wrap(core.ProviderInvalidRequest, err, "The extra setting %s is not valid JSON.", key)
		}
		if !equal(a, b) {
			return invalid("The extra setting %s contradicts the request, which sets it to another value. Take one "+
				"of them away.", key)
		}
	}
	return nil
}

// texts reads an extra value; ok is false if it is malformed.
func (l TextList) texts(extra json.RawMessage) (all []string, ok bool) {
	v, err := strictjson.Parse(extra)
	switch {
	case err != nil:
		return nil, false
	case v.Kind == strictjson.String && l.Scalar:
		return []string{v.String}, true
	case v.Kind != strictjson.Array:
		return nil, false
	}
	for _, item := range v.Items {
		if item.Kind != strictjson.String {
			return nil, false
		}
		all = append(all, item.String)
	}
	return all, true
}

func mergeTexts(set json.RawMessage, added []string) (json.RawMessage, error) {
	var all, merged []string
	if err := json.Unmarshal(set, &all); err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The stop sequences are not a list of texts.")
	}
	for _, s := range slices.Concat(all, added) {
		if !slices.Contains(merged, s) {
			merged = append(merged, s)
		}
	}
	return json.Marshal(merged)
}
