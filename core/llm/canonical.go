package llm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Canonical gives JSON in the one form that is sent (llm-provider §8): keys sorted at every depth, no white space, numbers in the digits that
// they were written in, texts without needless escapes. Equal requests give equal bytes, so that a vendor's cache of prefixes holds.
func Canonical(data []byte) ([]byte, error) {
	v, err := strictjson.Parse(data)
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The request is not valid JSON.")
	}
	return CanonicalValue(v), nil
}

// CanonicalValue is Canonical of a value that was parsed before; of a key that is there twice the last counts.
func CanonicalValue(v *strictjson.Value) []byte { return v.AppendCanonical(nil, scalar) }

// scalar appends a text, a number, a bool or null.
func scalar(b []byte, v *strictjson.Value) []byte {
	if v.Kind == strictjson.Number {
		return append(b, v.Number...)
	}
	out := bytes.NewBuffer(b)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v.Any()) // a text, a bool or null: can't fail
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// MergeExtra adds the extra settings to the root of a request's body (llm-provider §6, managed-field collision). A key that the body does
// not have is added as it is. One that it has, because the request sets it, is
//   - merged, if it is in lists: the body's texts, then the extra ones, each once. An extra text by itself counts as a list of one;
//   - else a repetition without effect if the values are equal, and provider_invalid_request if they are not.
//
// body is changed; extra is not.
func MergeExtra(body, extra map[string]json.RawMessage, lists ...string) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		set, there := body[key]
		if !there {
			body[key] = extra[key]
			continue
		}
		if slices.Contains(lists, key) {
			merged, err := mergeTexts(key, set, extra[key])
			if err != nil {
				return err
			}
			body[key] = merged
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
			return invalid("The extra setting %s contradicts the request, which sets it to another value. Take one of them away.", key)
		}
	}
	return nil
}

func mergeTexts(key string, set, extra json.RawMessage) (json.RawMessage, error) {
	var all, added []string
	if err := json.Unmarshal(set, &all); err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The setting %s is not a list of texts.", key)
	}
	v, err := strictjson.Parse(extra)
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The extra setting %s is not valid JSON.", key)
	}
	items := v.Items
	if v.Kind == strictjson.String {
		items = []*strictjson.Value{v}
	} else if v.Kind != strictjson.Array {
		return nil, invalid("The extra setting %s must be a text or a list of texts, not %s.", key, v.Kind)
	}
	for _, item := range items {
		if item.Kind != strictjson.String {
			return nil, invalid("The extra setting %s must be a text or a list of texts; one of them is %s.", key, item.Kind)
		}
		added = append(added, item.String)
	}
	var merged []string
	for _, s := range slices.Concat(all, added) {
		if !slices.Contains(merged, s) {
			merged = append(merged, s)
		}
	}
	return json.Marshal(merged)
}
