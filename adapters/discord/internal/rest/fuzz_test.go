package rest

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// The error of any answer has a category, a message and a wait within bounds.
func FuzzError(f *testing.F) {
	for _, body := range []string{
		"", "{}", `{"message":"x","code":50013}`, `{"retry_after":1.5}`, `{"retry_after":-1}`, `{"retry_after":1e400}`,
		`{"code":50035,"errors":{"a":[]}}`, "<html>", `[]`, `{"code":"x"}`, "\xff",
	} {
		f.Add(429, body, "1")
		f.Add(403, body, "")
		f.Add(500, body, "x")
	}
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		if status < 300 || status > 599 {
			return
		}
		err := errorOf(response{status: status, header: http.Header{"Retry-After": {after}}}, []byte(body), nil)
		if core.CategoryOf(err) == core.Internal || core.MessageOf(err) == "" ||
			strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%v", err)
		}
		if wait := core.RetryAfterOf(err); wait < 0 || wait > outbound.MaxWait ||
			status == http.StatusTooManyRequests && wait == 0 {
			t.Errorf("it waits for %s", wait)
		}
	})
}
