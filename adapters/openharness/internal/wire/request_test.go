package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/adapters/openharness/internal/wire"
)

// base is a request; the tests replace parts of it.
const base = `{"protocol_version":"1.0.0","request_id":"req_1","correlation_id":"corr_1",` +
	`"request":{"auth":{"tenant_id":"t"},"context":{"session_id":"s","user_intent":"hello"}}}`

// canary is in what is refused, and must be in no fault.
const canary = "CANARY7f3a9c"

// replaced is base with old replaced by new.
func replaced(old, new string) string {
	if !strings.Contains(base, old) {
		panic("base has no " + old)
	}
	return strings.Replace(base, old, new, 1)
}

// context is base with more fields in the context.
func context(fields string) string { return replaced(`"session_id"`, fields+`,"session_id"`) }

// root is base with more fields beside the request.
func root(fields string) string { return replaced(`"request":`, fields+`,"request":`) }

func attachment(fields string) string { return context(`"attachments":[{` + fields + `}]`) }

func TestRefused(t *testing.T) {
	long, deep := strings.Repeat(canary, 200), func(n int) string {
		return strings.Repeat("[", n) + strings.Repeat("]", n)
	}
	for _, c := range []struct{ body, code, field string }{
		{``, wire.InvalidRequest, ""},
		{" \n", wire.InvalidRequest, ""},
		{`null`, wire.InvalidRequest, ""},
		{`[` + base + `]`, wire.InvalidRequest, ""},
		{base + `{}`, wire.InvalidRequest, ""},
		{"\xef\xbb\xbf" + base, wire.InvalidRequest, ""},
		{replaced("hello", canary+"\xff"), wire.InvalidRequest, ""},
		{replaced("hello", canary+`\ud800`), wire.InvalidRequest, ""},
		{root(`"` + canary + `":1,"` + canary + `":2`), wire.InvalidRequest, ""},
		{context(`"x":{"a":1,"\u0061":2}`), wire.InvalidRequest, ""},
		{`{"` + canary + `":` + canary + `}`, wire.InvalidRequest, ""},
		{root(`"x":` + deep(256)), wire.InvalidRequest, ""},
		{root(`"x":` + deep(100_000)), wire.InvalidRequest, ""},
		{root(`"x":` + strings.Repeat(`{"a":`, 100_000)), wire.InvalidRequest, ""},
		{root(`"x":[0` + strings.Repeat(",0", 20_000) + `]`), wire.InvalidRequest, ""},

		{replaced(`"protocol_version":"1.0.0",`, ``), wire.InvalidRequest, "protocol_version"},
		{replaced(`"1.0.0"`, `null`), wire.InvalidRequest, "protocol_version"},
		{replaced(`1.0.0`, canary), wire.InvalidRequest, "protocol_version"},
		{replaced(`1.0.0`, `1.0`), wire.InvalidRequest, "protocol_version"},
		{replaced(`1.0.0`, `1.0.0\n`), wire.InvalidRequest, "protocol_version"},
		{replaced(`1.0.0`, `１.0.0`), wire.InvalidRequest, "protocol_version"},
		{replaced(`1.0.0`, `2.0.0-`+canary), wire.VersionUnsupported, "protocol_version"},
		{replaced(`1.0.0`, `10.0.0`), wire.VersionUnsupported, "protocol_version"},
		{
			`{"protocol_version":"2.0.0","request_id":7,"request":"another shape"}`, wire.VersionUnsupported,
			"protocol_version",
		},

		{replaced(`"req_1"`, `""`), wire.InvalidRequest, "request_id"},
		{replaced(`"req_1"`, `null`), wire.InvalidRequest, "request_id"},
		{replaced(`"corr_1"`, `"`+long+`"`), wire.InvalidRequest, "correlation_id"},
		{`{"protocol_version":"1.0.0","response":{"status":"success"}}`, wire.InvalidRequest, "request"},
		{`{"protocol_version":"1.0.0","request":null}`, wire.InvalidRequest, "request"},
		{`{"protocol_version":"1.0.0","request":{}}`, wire.InvalidRequest, "context.user_intent"},
		{root(`"capabilities":[]`), wire.InvalidRequest, "capabilities"},
		{root(`"capabilities":{"openharness.streaming":1}`), wire.InvalidRequest, "capabilities.openharness.streaming"},

		{replaced(`{"tenant_id":"t"}`, `"`+canary+`"`), wire.InvalidRequest, "auth"},
		{replaced(`"t"`, `7`), wire.InvalidRequest, "auth.tenant_id"},
		{
			replaced(`"tenant_id":"t"`, `"credential_ref":{"a":"`+canary+`"}`), wire.InvalidRequest,
			"auth.credential_ref",
		},
		{replaced(`"tenant_id"`, `"session_id"`), wire.InvalidRequest, "context.session_id"},
		{replaced(`"s"`, `"`+long+`"`), wire.InvalidRequest, "context.session_id"},
		{context(`"conversation_id":"` + long + `"`), wire.InvalidRequest, "context.conversation_id"},
		{replaced(`"auth":{"tenant_id":"t"}`, `"extensions":[]`), wire.InvalidRequest, "extensions"},
		{
			replaced(`"auth":{"tenant_id":"t"}`, `"extensions":{"dev.gatehouse":"`+canary+`"}`), wire.InvalidRequest,
			"extensions.dev.gatehouse",
		},
		{
			replaced(`"auth":{"tenant_id":"t"}`, `"extensions":{"dev.gatehouse":{"reason":null}}`), wire.InvalidRequest,
			"extensions.dev.gatehouse.reason",
		},
		{replaced(`"auth":{"tenant_id":"t"}`,
			`"extensions":{"dev.gatehouse":{"reason":"`+strings.Repeat("ä", 2001)+`"}}`), wire.InvalidRequest,
			"extensions.dev.gatehouse.reason"},

		{replaced(`"hello"`, `null`), wire.InvalidRequest, "context.user_intent"},
		{replaced(`hello`, `\u2003 \n`), wire.InvalidRequest, "context.user_intent"},
		{replaced(`"user_intent"`, `"USER_INTENT"`), wire.InvalidRequest, "context.user_intent"},
		{replaced(`"user_intent":"hello"`, `"continuation":{}`), wire.InvalidRequest, "context.user_intent"},
		{
			replaced(`"user_intent":"hello"`, `"continuation":{"run_id":"","continuation_token":""}`),
			wire.InvalidRequest, "context.user_intent",
		},
		{
			replaced(`"user_intent":"hello"`, `"continuation":{"sop_id":"a"}`), wire.InvalidRequest,
			"context.user_intent",
		},
		{replaced(`hello`, strings.Repeat("a", 64<<10+1)), wire.InvalidRequest, "context.user_intent"},
		{context(`"continuation":{"run_id":7}`), wire.InvalidRequest, "context.continuation.run_id"},
		{context(`"continuation":{"sop_id":7}`), wire.InvalidRequest, "context.continuation.sop_id"},
		{context(`"continuation":null`), wire.InvalidRequest, "context.continuation"},
		{context(`"task_hint":{"business_key":7}`), wire.InvalidRequest, "context.task_hint.business_key"},
		{context(`"environment_state":"` + canary + `"`), wire.InvalidRequest, "context.environment_state"},
		{context(`"environment_state":{"os":["` + canary + `"]}`), wire.InvalidRequest, "context.environment_state.os"},
		{
			context(`"environment_state":{"privacy_tier":"` + canary + `"}`), wire.InvalidRequest,
			"context.environment_state.privacy_tier",
		},
		{
			context(`"environment_state":{"privacy_tier":""}`), wire.InvalidRequest,
			"context.environment_state.privacy_tier",
		},
		{context(`"shell":{"shell_kind":""}`), wire.InvalidRequest, "context.shell.shell_kind"},
		{context(`"shell":{"locale":1}`), wire.InvalidRequest, "context.shell.locale"},
		{context(`"extensions":null`), wire.InvalidRequest, "context.extensions"},

		{context(`"attachments":{}`), wire.InvalidRequest, "context.attachments"},
		{context(`"attachments":["` + canary + `"]`), wire.InvalidRequest, "context.attachments[0]"},
		{
			context(`"attachments":[{"ref_id":"a"},{"filename":"` + canary + `"}]`), wire.InvalidRequest,
			"context.attachments[1]",
		},
		{
			context(`"attachments":[{"ref_id":"a"}` + strings.Repeat(`,{"ref_id":"a"}`, 32) + `]`), wire.InvalidRequest,
			"context.attachments",
		},
		{attachment(`"ref_id":""`), wire.InvalidRequest, "context.attachments[0]"},
		{attachment(`"ref_id":"a","mime_type":null`), wire.InvalidRequest, "context.attachments[0].mime_type"},
		{attachment(`"uri":"data:,` + canary + `"`), wire.InlineAttachment, "context.attachments[0]"},
		{attachment(`"uri":" DA\nTA:` + canary + `"`), wire.InlineAttachment, "context.attachments[0]"},
		{
			attachment(`"ref_id":"a","thumbnail":"data:image/png;base64,AAAA"`), wire.InlineAttachment,
			"context.attachments[0]",
		},
		{attachment(`"ref_id":"a","uri":"app:image/png;base64,AAAA"`), wire.InlineAttachment, "context.attachments[0]"},
		{attachment(`"data":"` + long + `="`), wire.InlineAttachment, "context.attachments[0]"},
		{
			attachment(`"ref_id":"a","data":"` + strings.Repeat("AAAB", 150) + `"`), wire.InlineAttachment,
			"context.attachments[0]",
		},
		{
			attachment(`"ref_id":"a","x":[{"y":"` + strings.Repeat("AB_-\\r\\n", 300) + `"}]`), wire.InlineAttachment,
			"context.attachments[0]",
		},
	} {
		r, fault := wire.Decode([]byte(c.body), wire.Limits{})
		if fault == nil || fault.Code != c.code || fault.Field != c.field {
			t.Errorf("%.300s:\n%+v, want %s at %q", c.body, fault, c.code, c.field)
			continue
		}
		if text := fmt.Sprint(*fault, r); strings.Contains(text, canary) || !strings.HasSuffix(fault.Message, ".") {
			t.Errorf("%.300s:\n%s", c.body, text)
		}
		if r.Session != "" || r.Intent != "" {
			t.Errorf("%.300s: a refused request is passed on: %+v", c.body, r)
		}
	}
}

// TestRefusedIsEchoed: an identifier that keeps the rules is echoed whatever else is wrong, and no other.
func TestRefusedIsEchoed(t *testing.T) {
	for body, want := range map[string][2]string{
		replaced(`1.0.0`, `2.0.0`):                     {"req_1", "corr_1"},
		replaced(`"1.0.0"`, `1`):                       {"req_1", "corr_1"},
		replaced(`hello`, ``):                          {"req_1", "corr_1"},
		replaced(`"req_1"`, `7`):                       {"", "corr_1"},
		replaced(`corr_1`, strings.Repeat("a", 257)):   {"req_1", ""},
		replaced(`corr_1`, strings.Repeat("c", 300)):   {"req_1", ""},
		replaced(`"request_id"`, `"REQUEST_ID"`) + "x": {"", ""},
		`{"request_id":"a","REQUEST_ID":"b"}`:          {"a", ""},
	} {
		r, fault := wire.Decode([]byte(body), wire.Limits{})
		if fault == nil || r.ID != want[0] || r.Correlation != want[1] {
			t.Errorf("%.200s: %q %q, want %q; %+v", body, r.ID, r.Correlation, want, fault)
		}
	}
}

func TestAccepted(t *testing.T) {
	hello := func(change func(*wire.Request)) wire.Request {
		r := wire.Request{ID: "req_1", Correlation: "corr_1", Session: "s", Intent: "hello"}
		change(&r)
		return r
	}
	same := hello(func(*wire.Request) {})
	attached := func(a wire.Attachment) wire.Request {
		return hello(func(r *wire.Request) { r.Attachments = []wire.Attachment{a} })
	}
	for _, c := range []struct {
		body string
		want wire.Request
	}{
		{base, same},
		{"\n\t" + base + " \r\n", same},
		{replaced(`1.0.0`, `1.7.12-draft.1+b`), same},
		{replaced(`1.0.0`, `01.0.0`), same},
		{root(`"response":{"status":7}`), same},
		{root(`"REQUEST_ID":null,"Request":[]`), same},
		{context(`"SESSION_ID":"other","User_Intent":{}`), same},
		{replaced(`"tenant_id":"t"`, `"session_id":"s"`), same},
		{replaced(`"tenant_id":"t"`, `"session_id":"","SESSION_ID":"other"`), same},
		{strings.Replace(replaced(`"tenant_id":"t"`, `"session_id":"s"`), `"session_id":"s","user`, `"user`, 1), same},
		{context(`"continuation":{}`), same},
		{context(`"continuation":{"sop_id":"x"}`), same},
		{context(`"environment_state":{"privacy_tier":"secret","os":"` + canary + `","x":null}`), same},
		{context(`"shell":{"shell_kind":"tv","locale":"not a locale"},"task_hint":{},"extensions":{"a":null}`), same},
		{context(`"attachments":[]`), same},
		{strings.Replace(attachment(`"asset_id":"a"`), `hello`, ` `, 1), hello(func(r *wire.Request) {
			r.Intent, r.Attachments = " ", []wire.Attachment{{AssetID: "a"}}
		})},
		{context(`"task_hint":{"sop_id":"a","plugin_id":"b","business_key":"c"}`), hello(func(r *wire.Request) {
			r.TaskHint = wire.TaskHint{SOP: "a", Plugin: "b", Business: "c"}
		})},
		{root(`"x":` + strings.Repeat("[", 255) + strings.Repeat("]", 255)), same},
		{root(`"x":[0` + strings.Repeat(",0", 19_980) + `]`), same},
		{replaced(`req_1`, strings.Repeat("é", 128)), hello(func(r *wire.Request) { r.ID = strings.Repeat("é", 128) })},
		{replaced(`"request_id":"req_1","correlation_id":"corr_1",`, ``), wire.Request{Session: "s", Intent: "hello"}},
		{context(`"conversation_id":"c"`), hello(func(r *wire.Request) { r.Conversation = "c" })},
		{replaced(`"user_intent":"hello"`, `"continuation":{"run_id":"r"}`), hello(func(r *wire.Request) {
			r.Intent, r.Continuation = "", &wire.Continuation{Run: "r"}
		})},
		{context(`"continuation":{"continuation_token":"k"}`), hello(func(r *wire.Request) {
			r.Continuation = &wire.Continuation{Token: "k"}
		})},
		{replaced(`"auth":{"tenant_id":"t"}`,
			`"extensions":{"DEV.gatehouse":1,"dev.gatehouse":{"reason":"`+strings.Repeat("ä", 2000)+`","x":1}}`),
			hello(func(r *wire.Request) { r.Reason = strings.Repeat("ä", 2000) })},
		{root(
			`"capabilities":{"openharness.ui.approval":true,"openharness.streaming":"",` +
				`"openharness.ui.rich_cards":{},"openharness.actions.parallel":false,"com.example.x":null,` +
				`"OPENHARNESS.STREAMING":true}`),
			hello(func(r *wire.Request) { r.Asked = []string{wire.RichCards, wire.Approval} })},
		{attachment(
			`"ref_id":"a","uri":"https://a.example/b","asset_id":"c","mime_type":"d","filename":"data: 2024",` +
				`"size_bytes":10.0`),
			attached(
				wire.Attachment{
					RefID: "a", URI: "https://a.example/b", AssetID: "c", MIMEType: "d", Filename: "data: 2024",
					Size: 10,
				})},
		{
			attachment(`"uri":"file:///etc/passwd","sha256":"` + strings.Repeat("a1", 32) + `"`),
			attached(wire.Attachment{URI: "file:///etc/passwd"}),
		},
		{
			attachment(`"uri":"https://a.example/` + strings.Repeat("a", 3000) + `"`),
			attached(wire.Attachment{URI: "https://a.example/" + strings.Repeat("a", 3000)}),
		},
	} {
		got, fault := wire.Decode([]byte(c.body), wire.Limits{})
		if fault != nil {
			t.Errorf("%.300s: %+v", c.body, *fault)
		} else if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(wire.Request{})); diff != "" {
			t.Errorf("%.300s: %s", c.body, diff)
		}
		if strings.Contains(fmt.Sprintf("%+v", got), canary) {
			t.Errorf("the environment is kept: %+v", got)
		}
	}
}

func TestSizes(t *testing.T) {
	for number, want := range map[string]int64{
		"0": 0, "-0": 0, "-0.0e5": 0, "0e999999999999999999999": 0, "7": 7, "10.0": 10, "1e3": 1000, "1.5E+1": 15,
		"120e-1": 12, "1200.00e-2": 12,
		"9223372036854775807": 9223372036854775807, "0.9223372036854775807e19": 9223372036854775807,
		"-1": -1, "1.5": -1, "15e-2": -1, "1e-400": -1, "9223372036854775808": -1, "1e19": -1,
		"1e999999999999999999999": -1, "1e-999999999999999999999": -1,
	} {
		r, fault := wire.Decode([]byte(attachment(`"ref_id":"a","size_bytes":`+number)), wire.Limits{})
		switch {
		case want < 0 && (fault == nil || fault.Field != "context.attachments[0].size_bytes"):
			t.Errorf("%s: %+v", number, fault)
		case want >= 0 && (fault != nil || r.Attachments[0].Size != want):
			t.Errorf("%s: %+v, %+v", number, r.Attachments, fault)
		}
	}
}

func TestLimits(t *testing.T) {
	if _, fault := wire.Decode([]byte(base), wire.Limits{Intent: 4}); fault == nil ||
		fault.Field != "context.user_intent" {
		t.Errorf("%+v", fault)
	}
	if _, fault := wire.Decode([]byte(base), wire.Limits{Intent: 5}); fault != nil {
		t.Errorf("%+v", *fault)
	}
}

// TestHostileBodiesCostLittle: a body that nests too deep or has too many values is refused before it takes memory.
func TestHostileBodiesCostLittle(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<20), "[" + strings.Repeat("0,", 1<<20),
		"[" + strings.Repeat("[],", 1<<20),
	} {
		data := []byte(body)
		if n := testing.AllocsPerRun(3, func() { _, _ = wire.Decode(data, wire.Limits{}) }); n > 20 {
			t.Errorf("%.10s: %.0f allocations", body, n)
		}
	}
}

// TestAShellSaysThatItShowsNoApprovals by a value that says no; without a word it may show them.
func TestAShellSaysThatItShowsNoApprovals(t *testing.T) {
	t.Parallel()
	for capabilities, want := range map[string]bool{
		`{"openharness.ui.approval":false}`: true, `{"openharness.ui.approval":""}`: true,
		`{"openharness.ui.approval":true}`: false, `{"openharness.ui.approval":{}}`: false,
		`{"openharness.ui.approval":"yes"}`: false, `{"openharness.ui.rich_cards":false}`: false, `{}`: false,
	} {
		r, fault := wire.Decode(
			[]byte(`{"protocol_version":"1.0.0","capabilities":`+capabilities+
				`,"request":{"context":{"user_intent":"hello"}}}`), wire.Limits{})
		if fault != nil || r.TextOnly != want {
			t.Errorf("%s: %v, want %v; %v", capabilities, r.TextOnly, want, fault)
		}
	}
}
