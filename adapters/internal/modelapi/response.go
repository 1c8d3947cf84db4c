package modelapi

import (
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

// Checked gives an answer that was read, or refuses it: one with nothing in it that a person could read, or with a call that lacks something.
// Arguments that are no object are null there; if nothing else is wrong, llm.BadCalls is in the error's chain. A model that was not done is
// not checked: its calls never run. Error: provider_invalid_response.
func (e *Endpoint) Checked(r llm.Response) (llm.Response, error) {
	if r.Finish != llm.FinishStop && r.Finish != llm.FinishCalls {
		return r, nil
	}
	if strings.TrimSpace(r.Message.Content.String()) == "" && len(r.Message.ToolCalls) == 0 {
		return r, e.Malformed("there is nothing in it")
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
