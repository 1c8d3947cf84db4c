package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// answering serves MCP over HTTP; calls of tools get a status and a body in which ID stands for the id of the call.
func answering(t *testing.T, status int, body string, after time.Duration) (address string, calls *atomic.Int32) {
	calls = &atomic.Int32{}
	return over(t, func(w http.ResponseWriter, r *http.Request, text string) bool {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal([]byte(text), &m) != nil || m.Method != "tools/call" {
			return false
		}
		calls.Add(1)
		select {
		case <-time.After(after):
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, strings.ReplaceAll(body, "ID", string(m.ID)))
		return true
	}), calls
}

func TestLaw5_AStatusNeverHasACallSentAgain(t *testing.T) {
	const ours, others = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"half of it"}}`, `{"jsonrpc":"2.0","id":77,"error":{"code":-32000,"message":"half of it"}}`
	const result = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}`
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone} {
		for body, want := range map[string]core.Category{
			"": core.OutcomeUnknown, "no such session": core.OutcomeUnknown, result: core.OutcomeUnknown, others: core.OutcomeUnknown, ours: core.ToolFailed,
			strings.Replace(ours, "ID", "null", 1): core.OutcomeUnknown,
		} {
			t.Run(fmt.Sprint(status, body), func(t *testing.T) {
				address, calls := answering(t, status, body, 0)
				_, err := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
				if core.CategoryOf(err) != want || strings.Contains(strings.ToLower(core.MessageOf(err)), "nothing was done") {
					t.Errorf("%v", err)
				}
				if calls.Load() != 1 {
					t.Errorf("it was sent %d times", calls.Load())
				}
			})
		}
	}
	t.Run("a tool that reads", func(t *testing.T) {
		address, calls := answering(t, http.StatusNotFound, "", 0)
		_, err := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address, ReadOnly: []string{"echo"}}).call("files.echo", `{}`)
		if core.CategoryOf(err) != core.ToolFailed || calls.Load() != 2 {
			t.Errorf("%v; it was sent %d times", err, calls.Load())
		}
	})
}

func TestACallThatTookTooLongIsNotJudgedByALaterStatus(t *testing.T) {
	address, calls := answering(t, http.StatusForbidden, "", 1100*time.Millisecond)
	_, err := run(t, mcp.Impatient(mcp.Options{}), mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
	if core.CategoryOf(err) != core.OutcomeUnknown || !strings.Contains(core.MessageOf(err), "did not answer within 1s") || calls.Load() != 1 {
		t.Errorf("%v; %d calls", err, calls.Load())
	}
}
