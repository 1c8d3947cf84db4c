package modelapi

import (
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

// CheckCall refuses a call that lacks something, or whose arguments, as the adapter has read them, are no object. Where the model stopped for
// an unknown reason, what there is of a call is taken as it is. Error: provider_invalid_response.
func (e *Endpoint) CheckCall(c core.ToolCall, finish llm.Finish, object bool) error {
	switch {
	case finish == llm.FinishUnknown:
		return nil
	case c.ID == "":
		return e.Malformed("the call of %s has no id", c.Name)
	case c.Name == "":
		return e.Malformed("the call %s names no tool", c.ID)
	case !object:
		return e.Malformed("the arguments of the call %s are not an object", c.ID)
	}
	return nil
}

// CheckMessage refuses an answer with nothing in it, from a model that says it was done. Error: provider_invalid_response.
func (e *Endpoint) CheckMessage(m core.Message, finish llm.Finish) error {
	if m.Content.IsZero() && len(m.ToolCalls) == 0 && (finish == llm.FinishStop || finish == llm.FinishCalls) {
		return e.Malformed("there is nothing in it")
	}
	return nil
}
