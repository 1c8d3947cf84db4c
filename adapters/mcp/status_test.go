package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	const ours, others = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"half of it"}}`,
		`{"jsonrpc":"2.0","id":77,"error":{"code":-32000,"message":"half of it"}}`
	const result = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}`
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusGone} {
		for body, want := range map[string]core.Category{
			"": core.OutcomeUnknown, "no such session": core.OutcomeUnknown, result: core.OutcomeUnknown,
			others: core.OutcomeUnknown, ours: core.ToolFailed,
			strings.Replace(ours, "ID", "null", 1): core.OutcomeUnknown,
		} {
			t.Run(fmt.Sprint(status, body), func(t *testing.T) {
				address, calls := answering(t, status, body, 0)
				_, err := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
				if core.CategoryOf(err) != want ||
					strings.Contains(strings.ToLower(core.MessageOf(err)), "nothing was done") {
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
		_, err := run(t, mcp.Options{},
			mcp.Server{Name: "files", URL: address, ReadOnly: []string{"echo"}}).call("files.echo", `{}`)
		if core.CategoryOf(err) != core.ToolFailed || calls.Load() != 2 {
			t.Errorf("%v; it was sent %d times", err, calls.Load())
		}
	})
}

func TestACallThatTookTooLongIsNotJudgedByALaterStatus(t *testing.T) {
	address, calls := answering(t, http.StatusForbidden, "", 1100*time.Millisecond)
	_, err := run(t, mcp.Impatient(mcp.Options{}), mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
	if core.CategoryOf(err) != core.OutcomeUnknown ||
		!strings.Contains(core.MessageOf(err), "did not answer within 1s") || calls.Load() != 1 {
		t.Errorf("%v; %d calls", err, calls.Load())
	}
}

func TestLaw5_WhatIsSaidOfAStatusIsKnown(t *testing.T) {
	for status, c := range map[int]struct {
		want core.Category
		says string
	}{
		http.StatusUnauthorized: {
			core.ToolFailed, "refused the call with HTTP status 401 Unauthorized; correct the headers of this server " +
				"in mcp.json",
		},
		http.StatusForbidden: {
			core.ToolFailed, "refused the call with HTTP status 403 Forbidden; correct the headers of this server in " +
				"mcp.json",
		},
		http.StatusMethodNotAllowed: {
			core.ToolFailed, "refused the call with HTTP status 405 Method Not Allowed; check the URL of this server " +
				"in mcp.json",
		},
		http.StatusUnsupportedMediaType: {
			core.ToolFailed, "refused the call with HTTP status 415 Unsupported Media Type",
		},
		http.StatusTooManyRequests:     {core.ToolFailed, "refused the call with HTTP status 429 Too Many Requests"},
		http.StatusUnprocessableEntity: {core.OutcomeUnknown, "answered HTTP status 422 Unprocessable Entity"},
		http.StatusConflict:            {core.OutcomeUnknown, "answered HTTP status 409 Conflict"},
		http.StatusInternalServerError: {core.OutcomeUnknown, "answered HTTP status 500 Internal Server Error"},
		http.StatusBadGateway:          {core.OutcomeUnknown, "answered HTTP status 502 Bad Gateway"},
		http.StatusServiceUnavailable:  {core.OutcomeUnknown, "answered HTTP status 503 Service Unavailable"},
		http.StatusGatewayTimeout:      {core.OutcomeUnknown, "answered HTTP status 504 Gateway Timeout"},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			address, calls := answering(t, status, "no", 0)
			_, err := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
			said := core.MessageOf(err)
			if core.CategoryOf(err) != c.want || !strings.Contains(said, c.says) ||
				strings.Contains(strings.ToLower(said), "nothing was done") {
				t.Errorf("%v", err)
			}
			if calls.Load() != 1 {
				t.Errorf("it was sent %d times", calls.Load())
			}
		})
	}
}

func TestLaw5_ARedirectDoesNotSendACallTwice(t *testing.T) {
	for status, want := range map[int]core.Category{
		http.StatusMovedPermanently: core.OutcomeUnknown, http.StatusFound: core.OutcomeUnknown,
		http.StatusSeeOther:          core.OutcomeUnknown,
		http.StatusTemporaryRedirect: core.ToolFailed, http.StatusPermanentRedirect: core.ToolFailed,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var calls atomic.Int32
			address := over(t, func(w http.ResponseWriter, r *http.Request, text string) bool {
				called := strings.Contains(text, `"tools/call"`)
				if called {
					calls.Add(1)
					http.Redirect(w, r, "/elsewhere/?key=s3cr3t", status)
				}
				return called
			})
			_, err := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address}).call("files.write", `{}`)
			said := core.MessageOf(err)
			if core.CategoryOf(err) != want ||
				!strings.Contains(said, "/elsewhere/, and redirects are not followed; correct the URL of this server "+
					"in mcp.json") || strings.Contains(said, "s3cr3t") {
				t.Errorf("%v", err)
			}
			if strings.Contains(said, "othing was done") || calls.Load() != 1 {
				t.Errorf("%d calls, %s", calls.Load(), said)
			}
		})
	}
}

func TestAnEndpointMayRedirectWhoAsksForItsEvents(t *testing.T) {
	asked := make(chan struct{}, 10)
	address := over(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method == http.MethodGet {
			asked <- struct{}{}
			http.Redirect(w, r, "/manual", http.StatusFound)
		}
		return r.Method == http.MethodGet
	})
	r := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address})
	<-asked
	if got, err := r.call("files.echo", `{"a":1}`); err != nil || got != `{"a":1}` {
		t.Errorf("%q, %v", got, err)
	}
	if len(asked) > 0 {
		t.Error("it asks again, or follows the redirect")
	}
}

func TestWhyAnEndpointDoesNotRunIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		}, "/mcp/, and redirects are not followed; correct the URL"},
		"a refused credential": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no", http.StatusUnauthorized)
		}, "it answered HTTP status 401 Unauthorized; correct the headers"},
		"a wrong path": {http.NotFound, "it answered HTTP status 404 Not Found; check the URL"},
		"an older transport": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}, "405 Method Not Allowed; check the URL"},
		"another service": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"message":"hello"}`)
		}, "it answered with something that is not one answer of the protocol"},
		"another version": {func(w http.ResponseWriter, r *http.Request) {
			var m struct{ ID int }
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w,
				`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":"1999-01-01","capabilities":{},`+
					`"serverInfo":{"name":"a","version":"1"}}}`,
				m.ID)
		},
			`it speaks version "1999-01-01" of the protocol, and gatehouse only 2025-11-25, 2025-06-18, ` +
				`2025-03-26, 2024-11-05`},
	} {
		t.Run(name, func(t *testing.T) {
			h := httptest.NewServer(c.answer)
			t.Cleanup(h.Close)
			if got := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: h.URL}).Report()[0]; got.Running ||
				!strings.Contains(got.Reason, c.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}
