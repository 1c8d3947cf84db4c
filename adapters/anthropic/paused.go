package anthropic

import (
	"encoding/json"
	"slices"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
)

// maxPauses is how often an answer is continued.
const maxPauses = 8

// paused are the parts of an answer that the API has paused: it runs tools of its own, and takes the answer back to go
// on.
type paused struct {
	content []json.RawMessage
	parts   int
}

// add takes the next part. It returns the request that continues the answer; nil: the answer is whole, and a has all of
// it.
func (b *paused) add(request []byte, a *modelapi.Answer) ([]byte, error) {
	var answer map[string]json.RawMessage
	var content []json.RawMessage
	if json.Unmarshal(a.Body, &answer) != nil || json.Unmarshal(answer["content"], &content) != nil {
		return nil, nil // the reader says what is wrong with it
	}
	b.content = append(b.content, content...)
	if b.parts++; string(answer["stop_reason"]) == `"pause_turn"` && b.parts <= maxPauses {
		return continued(request, content)
	}
	if b.parts == 1 {
		return nil, nil
	}
	var err error
	if answer["content"], err = json.Marshal(b.content); err == nil {
		a.Body, err = json.Marshal(answer)
	}
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The parts of an answer can't be joined.")
	}
	return nil, nil
}

// continued is the request with a part of the answer as its last turn.
func continued(request []byte, content []json.RawMessage) ([]byte, error) {
	var root map[string]json.RawMessage
	var messages []json.RawMessage
	err := json.Unmarshal(request, &root)
	if err == nil {
		err = json.Unmarshal(root["messages"], &messages)
	}
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The request can't be continued.")
	}
	turn, err := json.Marshal(object{"role": "assistant", "content": content})
	if err == nil {
		root["messages"], err = json.Marshal(append(slices.Clone(messages), turn))
	}
	if err == nil {
		request, err = json.Marshal(root)
	}
	if err != nil {
		return nil, core.Wrap(core.ProviderInvalidRequest, err, "The request can't be continued.")
	}
	return request, nil
}
