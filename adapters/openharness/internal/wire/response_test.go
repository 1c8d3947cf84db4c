package wire_test

import (
	"math"
	"strings"
	"testing"

	"gatehouse/adapters/openharness/internal/wire"
)

func TestEncode(t *testing.T) {
	deadline := int64(0)
	for _, c := range []struct {
		name string
		r    wire.Response
		want string
	}{
		{"empty fields are left out", wire.Response{ProtocolVersion: "1.0.0", Body: wire.Body{Status: "success"}},
			`{"protocol_version":"1.0.0","response":{"status":"success"}}`},
		{
			"an empty list of directives stays",
			wire.Response{ProtocolVersion: "1.0.0", Body: wire.Body{Status: "success", Directives: []wire.Directive{}}},
			`{"protocol_version":"1.0.0","response":{"status":"success","action_directives":[]}}`,
		},
		{
			"retryable is always written",
			wire.Response{ProtocolVersion: "1.0.0", Body: wire.Body{Status: "error", Error: &wire.Error{Code: "x"}}},
			`{"protocol_version":"1.0.0","response":{"status":"error","error":{"code":"x","retryable":false}}}`,
		},
		{
			"HTML is not escaped, a deadline of zero stays",
			wire.Response{ProtocolVersion: "1.0.0", Body: wire.Body{Status: "success", Directives: []wire.Directive{{
				ActionType: "render_message", DeadlineMS: &deadline, Payload: map[string]any{"text": "<a> & b"},
			}}}},
			`{"protocol_version":"1.0.0","response":{"status":"success",` +
				`"action_directives":[{"action_type":"render_message","deadline_ms":0,"payload":{"text":"<a> & b"}}]}}`,
		},
		{
			"what JSON lacks is an error",
			wire.Response{
				ProtocolVersion: "1.0.0", RequestID: "r",
				Body: wire.Body{Status: "success", Extensions: map[string]any{"x": math.NaN()}},
			},
			`{"protocol_version":"1.0.0","request_id":"r","response":{"status":"error",` +
				`"error":{"code":"internal_error","message":"The answer could not be written.","retryable":false}}}`,
		},
	} {
		if got := string(c.r.Encode()); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

func TestNewEchoesAndDenies(t *testing.T) {
	r, fault := wire.Decode(
		[]byte(
			strings.Replace(base, `"request"`,
				`"capabilities":{"openharness.ui.rich_cards":{},"openharness.ui.approval":true,
		"openharness.attachments.upload":"v1","openharness.actions.parallel":true,"openharness.streaming":true,
		"com.example.x":true},"request"`, 1)), wire.Limits{})
	if fault != nil {
		t.Fatal(*fault)
	}
	response := wire.New(r)
	if response.ProtocolVersion != "1.0.0" || response.RequestID != "req_1" || response.CorrelationID != "corr_1" ||
		len(response.SupportedVersions) != 1 {
		t.Errorf("%+v", response)
	}
	var denied []string
	for _, d := range response.Denials {
		if d.Code != "not_supported" || d.Message == "" {
			t.Errorf("%+v", d)
		}
		denied = append(denied, d.Capability)
	}
	want := "openharness.streaming openharness.actions.parallel openharness.ui.rich_cards"
	if got := strings.Join(denied, " "); got != want {
		t.Errorf("denied are %s", got)
	}
	for id, want := range map[string]any{
		"openharness.ui.approval": true, "openharness.attachments.upload": true, "openharness.streaming": false,
		"dev.gatehouse.events.sse": "/v1/openharness/events",
	} {
		if got := response.SupportedCapabilities[id]; got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
