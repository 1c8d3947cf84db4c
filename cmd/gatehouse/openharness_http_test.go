package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestFormsOfHTTP: one message in the forms that HTTP allows is served, or refused for its form alone.
func TestFormsOfHTTP(t *testing.T) {
	t.Parallel()
	p, _, _, _ := newTrio(t)
	body, err := json.Marshal(request("", "s1", "hello"))
	noErr(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(body)
	z.Close()
	for name, c := range map[string]struct {
		method, path string
		body         io.Reader
		header       http.Header
		status       int
		code         string
	}{
		"the alias": {path: "/openharness", status: http.StatusOK},
		"a query":   {path: "/v1/openharness?x=1", status: http.StatusOK},
		"in chunks": {body: io.MultiReader(bytes.NewReader(body)), status: http.StatusOK},
		"a charset": {
			header: http.Header{"Content-Type": {"Application/JSON; charset=utf-8"}}, status: http.StatusOK,
		},
		"identity": {header: http.Header{"Content-Encoding": {"identity"}}, status: http.StatusOK},
		"tracing headers": {header: http.Header{
			"X-Correlation-Id": {"other"}, "X-Request-Id": {"other"}, "Traceparent": {"garbage"},
		}, status: http.StatusOK},
		"a stream is wanted": {header: http.Header{"Accept": {"text/event-stream"}}, status: http.StatusOK},
		"compressed": {
			body: &packed, header: http.Header{"Content-Encoding": {"gzip"}}, status: http.StatusUnsupportedMediaType,
			code: "unsupported_media_type",
		},
		"not UTF-8": {
			body:   strings.NewReader(strings.Replace(string(body), "hello", "h\xffllo", 1)),
			status: http.StatusBadRequest, code: "invalid_request",
		},
		"not UTF-8, unknown": {
			body:   strings.NewReader(strings.Replace(string(body), "{", "{\"x\":\"\xff\",", 1)),
			status: http.StatusBadRequest, code: "invalid_request",
		},
		"a token in the query": {
			path: "/v1/openharness?access_token=" + annsToken, header: http.Header{"Authorization": nil},
			status: http.StatusUnauthorized, code: "unauthorized",
		},
		"GET":     {method: http.MethodGet, status: http.StatusMethodNotAllowed, code: "method_not_allowed"},
		"HEAD":    {method: http.MethodHead, status: http.StatusMethodNotAllowed},
		"OPTIONS": {method: http.MethodOptions, status: http.StatusMethodNotAllowed, code: "method_not_allowed"},
		"PUT":     {method: http.MethodPut, status: http.StatusMethodNotAllowed, code: "method_not_allowed"},
	} {
		if c.body == nil {
			c.body = bytes.NewReader(body)
		}
		if c.method == "" {
			c.method = http.MethodPost
		}
		if c.path == "" {
			c.path = "/v1/openharness"
		}
		q, err := http.NewRequest(c.method, p.at+c.path, c.body)
		noErr(t, err)
		q.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + annsToken}}
		for key, values := range c.header {
			q.Header[key] = values
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		var got reply
		if c.method != http.MethodHead && err == nil {
			err = json.Unmarshal(raw, &got.Answer)
		}
		if err != nil || answer.StatusCode != c.status || got.code() != c.code || got.Answer.CorrelationID != nil ||
			got.Answer.RequestID != nil {
			t.Errorf("%s: %v, %d %s", name, err, answer.StatusCode, raw)
		}
		if allow := answer.Header.Get("Allow"); (allow == "POST") != (c.status == http.StatusMethodNotAllowed) {
			t.Errorf("%s: Allow is %q", name, allow)
		}
	}
	p.app.kill()
}
