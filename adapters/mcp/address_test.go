package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// pieces are the secrets of the URLs in these tests, in every form.
var pieces = []string{
	"q3ry+value", "q3ry%2Bvalue", "q3ry value", "path-key-42", "p4ssword", "somebody", "plainpath", "?a=",
}

func TestAnEndpointsURLDoesNotReachPeople(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(gone.URL, "http://")
	gone.Close()
	for name, location := range map[string]string{
		"gone": "http://somebody:p4ssword@" + host, "nowhere": "http://somebody:p4ssword@no-such-host.invalid",
		"wrong": "http://somebody:p4ssword@" + host + ":x",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, mcp.Impatient(mcp.Options{}),
				mcp.Server{Name: "files", URL: location + "/plainpath/path-key-42?a=q3ry%2Bvalue"})
			_, err := r.registry.Find(core.ToolCall{Name: "files.read", Arguments: json.RawMessage(`{}`)})
			if err == nil || !strings.Contains(core.MessageOf(err), "not running") {
				t.Fatalf("%v", err)
			}
			all := r.log.String() + core.MessageOf(err) + err.Error() + r.Report()[0].Reason
			for _, piece := range pieces {
				if strings.Contains(all, piece) {
					t.Errorf("%s is shown:\n%s", piece, all)
				}
			}
		})
	}
}

func TestAnEndpointsURLIsNotInTheErrorOfACall(t *testing.T) {
	address := over(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, `"tools/call"`) {
			return false
		}
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = hijacked.Close()
		}
		return true
	})
	r := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address + "/plainpath/path-key-42?a=q3ry%2Bvalue"})
	_, err := r.get("files.write").Do(context.Background(), "a1", json.RawMessage(`{}`))
	if core.CategoryOf(err) != core.OutcomeUnknown {
		t.Fatalf("%v", err)
	}
	for _, piece := range pieces {
		if all := err.Error() + core.MessageOf(err) + r.log.String(); strings.Contains(all, piece) {
			t.Errorf("%s is shown:\n%s", piece, all)
		}
	}
}
