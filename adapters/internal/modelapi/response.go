package modelapi

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// Parse reads the JSON of an answer. Error: provider_invalid_response.
func (e *Endpoint) Parse(a Answer) (*strictjson.Value, error) {
	v, err := strictjson.Parse(a.Body, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return nil, e.Failed(core.ProviderInvalidResponse, err, "%s gave an answer that is not JSON.", e.Place)
	}
	return v, nil
}

// Text is the text of a member; "" if there is none.
func Text(v *strictjson.Value, key string) string {
	if member := v.Get(key); member != nil {
		return member.String
	}
	return ""
}

// Sum is a counter and those that are not in it; nil if it is missing, or if there is no such number.
func Sum(first *int64, more ...*int64) *int64 {
	if first == nil {
		return nil
	}
	sum := *first
	for _, n := range more {
		if n == nil {
			continue
		}
		if sum += *n; sum < 0 {
			return nil
		}
	}
	return &sum
}

// Counter is a usage counter; nil if it is no whole number, or negative.
func Counter(usage *strictjson.Value, key string) *int64 {
	v := usage.Get(key)
	if v == nil || v.Kind != strictjson.Number {
		return nil
	}
	n, err := v.Number.Int64()
	if err != nil || n < 0 {
		return nil
	}
	return &n
}

// Checked gives an answer that was read, or refuses it: one with nothing in it that a person could read, or with a call
// that lacks something. Arguments that are no object are null there; if nothing else is wrong, llm.BadCalls or
// llm.Empty is in the error's chain. An answer that was cut may be empty, and the calls of a model that was not done
// are not checked: they never run as they are. Error: provider_invalid_response.
func (e *Endpoint) Checked(r llm.Response) (llm.Response, error) {
	switch empty := strings.TrimSpace(r.Message.Content.String()) == "" && len(r.Message.ToolCalls) == 0; {
	case r.Finish == llm.FinishLength || r.Finish == llm.FinishFilter:
		return r, nil
	case empty:
		err := e.Malformed("there is nothing in it")
		err.Err = llm.Empty{Response: r}
		return r, err
	case r.Finish == llm.FinishUnknown:
		return r, nil
	}
	bad := ""
	for _, c := range r.Message.ToolCalls {
		switch {
		case c.ID == "":
			return r, e.Malformed("the call of %s has no id", c.Name)
		case c.Name == "":
			return r, e.Malformed("the call %s names no tool", c.ID)
		case bad == "" && string(c.Arguments) == "null":
			bad = c.ID
		}
	}
	if bad != "" {
		err := e.Malformed("the arguments of the call %s are not an object", bad)
		err.Err = llm.BadCalls{Response: r}
		return r, err
	}
	return r, nil
}

// ReadArguments reads the arguments of a call from a text. None, null and a text that says so are an empty object; what
// is no object is null.
func ReadArguments(text string) json.RawMessage {
	switch text = strings.TrimSpace(text); text {
	case "", "null", `"null"`, `""`:
		return json.RawMessage("{}")
	}
	if v, err := strictjson.Parse([]byte(text)); err == nil && v.Kind == strictjson.Object {
		return json.RawMessage(text)
	}
	return json.RawMessage("null")
}

// Content is blocks as content: a plain text if there is nothing but text, since an API may cut one text into several
// blocks.
func Content(blocks []core.Block) core.Content {
	var plain strings.Builder
	for _, b := range blocks {
		if b.Type != core.TextBlock {
			return core.Blocks(blocks...)
		}
		plain.WriteString(b.Text)
	}
	return core.Text(plain.String())
}
