package mcp

import (
	"bytes"
	"io"
	"net/http"
)

// answered reads the body of a refused request, and reports whether it is a JSON-RPC error that answers this very request: the same id, no
// method. An error without the id, as proxies and servers that know no session write it, says nothing about the call.
func answered(req *http.Request, body io.Reader) (text []byte, yes bool) {
	text, _ = io.ReadAll(body) // what came before a fault is all there is
	if req.GetBody == nil {
		return text, false
	}
	sent, err := req.GetBody()
	if err != nil {
		return text, false
	}
	asked, err := io.ReadAll(sent)
	if err != nil {
		return text, false
	}
	question, ok := readHead(bytes.TrimSpace(asked))
	if !ok || !question.request() {
		return text, false
	}
	answer, ok := readHead(bytes.TrimSpace(text))
	return text, ok && answer.answer() && answer.failed && bytes.Equal(question.id, answer.id)
}
