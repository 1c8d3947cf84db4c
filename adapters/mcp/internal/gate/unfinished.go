package gate

import (
	"bytes"
	"encoding/json"
)

// Unfinished is the key in _meta under which a result is found, as text, that is none yet: a server's question or task.
// The SDK would drop most of it.
const Unfinished = "gatehouse/unfinished"

// maxUnfinished is the largest one: its text must fit a message.
const maxUnfinished = 1 << 20

// wrapped gives an answer whose result is not complete as one whose empty result holds the server's as text.
func (h head) wrapped(message []byte) []byte {
	var kind struct {
		ResultType string `json:"resultType"`
	}
	if len(h.result) > maxUnfinished || !bytes.Contains(h.result, []byte(`"resultType"`)) ||
		json.Unmarshal(h.result, &kind) != nil {
		return message
	}
	if kind.ResultType == "" || kind.ResultType == "complete" {
		return message
	}
	// of what was JSON: can't fail
	wrapped, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": h.id, "result": map[string]any{
		"content": []any{}, "_meta": map[string]string{Unfinished: string(h.result)},
	}})
	return wrapped
}
