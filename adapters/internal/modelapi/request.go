package modelapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// Check checks a request before anything of it is sent, and reports whether it has images. Errors:
// provider_invalid_request, provider_unsupported_content_block.
func (e *Endpoint) Check(r llm.Request) (images bool, err error) {
	if err := r.Validate(); err != nil {
		return false, err
	}
	if stream, asked := r.Config.Extra["stream"]; asked &&
		string(bytes.TrimSpace(stream)) != strconv.FormatBool(r.Stream) {
		return false, core.Errorf(core.ProviderInvalidRequest, "The extra setting stream contradicts the request, "+
			"which says itself whether its answer is streamed. Take it away.")
	}
	if images = hasImages(r); images && e.TextOnly {
		return images, core.Errorf(core.ProviderUnsupportedContent, "The model %s can't read images.", e.Model)
	}
	return images, nil
}

func hasImages(r llm.Request) bool {
	for _, m := range r.Messages {
		for _, b := range m.Content.Blocks() {
			if b.Type == core.ImageBlock {
				return true
			}
		}
	}
	return false
}

// Arguments gives the arguments of a call in the canonical form. What is no object, which a model had written badly, is
// an empty one; of a key that is there twice the last counts.
func Arguments(c core.ToolCall) json.RawMessage {
	v, err := strictjson.Parse(c.Arguments, strictjson.Repeats, strictjson.Replace)
	if err != nil || v.Kind != strictjson.Object {
		return json.RawMessage("{}")
	}
	return llm.CanonicalValue(v)
}

// Encode writes the root of a request's body with the extra settings (llm.MergeExtra), in the canonical form: equal
// requests are equal bytes. To the stop sequences extra ones are added. An extra stream, which Check has found to say
// the same as the request, is left out.
func Encode(root any, extra map[string]json.RawMessage, stops llm.TextList) ([]byte, error) {
	data, err := json.Marshal(root)
	if err != nil {
		return nil, unwritable(err)
	}
	body := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &body); err != nil {
		return nil, unwritable(err)
	}
	extra = maps.Clone(extra)
	delete(extra, "stream")
	if err := llm.MergeExtra(body, extra, stops); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(body); err != nil {
		return nil, unwritable(err)
	}
	return llm.Canonical(data)
}

func unwritable(err error) error {
	return core.Wrap(core.ProviderInvalidRequest, err, "The request can't be written as JSON.")
}
