package gate

import (
	"bytes"
	"encoding/json"
	"io"
)

// head is what the gate must know about a message.
type head struct {
	id     json.RawMessage // nil: there is none
	method *string         // nil: there is none
	failed bool            // it has an error
	result json.RawMessage // nil: there is none
}

// request reports whether the message wants an answer.
func (h head) request() bool { return h.method != nil && h.id != nil }

// answer reports whether the message is an answer.
func (h head) answer() bool { return h.method == nil && h.id != nil }

// alone is the message without its parameters: enough for the SDK to refuse a request, so that the server does not
// wait.
func (h head) alone() []byte {
	// of what was JSON: can't fail
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": h.id, "method": h.method, "params": struct{}{}})
	return text
}

// readHead reads the keys of a message as the SDK does: exactly, by case too. It is not ok if the message is no object,
// repeats a key, has an id that is neither text nor number or a method that is no name, or something after it. The
// values of other keys are passed over and not kept: a tree of them would take many times the memory of the message.
func readHead(message []byte) (h head, ok bool) {
	d := json.NewDecoder(bytes.NewReader(message))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return head{}, false
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, isText := key.(string)
		if err != nil || !isText || seen[name] || len(seen) >= maxKeys {
			return head{}, false
		}
		seen[name] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return head{}, false
		}
		switch name {
		case "id":
			if c := value[0]; c != '"' && c != '-' && (c < '0' || c > '9') {
				return head{}, false
			}
			h.id = value
		case "method":
			if json.Unmarshal(value, &h.method) != nil || h.method == nil || *h.method == "" {
				return head{}, false // the SDK takes it for an answer
			}
		case "result":
			h.result = value
		case "error":
			h.failed = string(value) != "null"
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return head{}, false
	}
	_, err := d.Token()
	return h, err == io.EOF //nolint:errorlint // it is given as it is
}

// maxKeys is how many keys a message may have; JSON-RPC knows six.
const maxKeys = 32

// Answers reports whether a text is a JSON-RPC error that answers this very request: the same id, no method. An error
// without the id, as proxies and servers that know no session write it, says nothing about the request.
func Answers(request, text []byte) bool {
	question, ok := readHead(bytes.TrimSpace(request))
	if !ok || !question.request() {
		return false
	}
	answer, ok := readHead(bytes.TrimSpace(text))
	return ok && answer.answer() && answer.failed && bytes.Equal(question.id, answer.id)
}
