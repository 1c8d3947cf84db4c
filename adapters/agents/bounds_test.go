package agents_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/access"
	"gatehouse/adapters/agents"
	"gatehouse/core"
)

// sent posts JSON, and returns the status and the body of the answer.
func sent(t *testing.T, url, body string) (status int, text string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// TestBatchesAreRefused with the error of JSON-RPC for what is no request; one request is served.
func TestBatchesAreRefused(t *testing.T) {
	signer, err := core.NewSigner("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	url := serving(t, agents.Options{Gate: access.New(access.Options{Signer: signer})}).URL + "/mcp"
	const one = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, text := sent(t, url, one); status != http.StatusOK || !strings.Contains(text, "wait_for_approval") {
		t.Errorf("one request: %d %s", status, text)
	}
	for _, batch := range []string{"[" + one + "]", " \r\n\t[" + one + "," + one + "]", "[]"} {
		status, text := sent(t, url, batch)
		var said struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil || status != http.StatusBadRequest ||
			said.Version != "2.0" || string(said.ID) != "null" || said.Error.Code != -32600 ||
			said.Error.Message == "" {
			t.Errorf("%s: %d %s", batch, status, text)
		}
	}
}

// TestManyValuesAreRefused before they are parsed, whatever they are in.
func TestManyValuesAreRefused(t *testing.T) {
	signer, err := core.NewSigner("0123456789abcdef0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	url := serving(t, agents.Options{Gate: access.New(access.Options{Signer: signer})}).URL
	many := `{"action":"deploy","summary":"s","arguments":{"a":[` + strings.Repeat("{},", 50_000) + `{}]}}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"request_approval","arguments":` + many + `}}`
	for path, body := range map[string]string{"/v1/approvals": many, "/mcp": call} {
		status, text := sent(t, url+path, body)
		if status != http.StatusBadRequest || !strings.Contains(text, `"invalid"`) ||
			!strings.Contains(text, "20000 values") {
			t.Errorf("%s: %d %.300s", path, status, text)
		}
	}
}
