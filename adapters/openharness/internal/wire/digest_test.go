package wire_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/openharness/internal/wire"
)

// TestDigest: what is asked changes it; what describes the sender and the moment does not.
func TestDigest(t *testing.T) {
	of := func(body string) string {
		r, fault := wire.Decode([]byte(body), wire.Limits{})
		if fault != nil {
			t.Fatalf("%s: %+v", body, *fault)
		}
		return r.Digest()
	}
	first := of(base)
	if len(first) != 64 {
		t.Errorf("%q", first)
	}
	for _, body := range []string{
		" " + base, replaced(`hello`, `\u0068ello`), replaced(`corr_1`, `corr_2`), replaced(`1.0.0`, `1.1.0`),
		root(`"x":1`), context(`"User_Intent":"x"`),
		context(`"environment_state":{"os":"x"}`), context(`"shell":{"shell_kind":"x"}`),
		context(`"attachments":[],"continuation":{},"conversation_id":""`),
		replaced(`"tenant_id"`, `"credential_ref":"c","session_id":"s","tenant_id"`),
		root(`"capabilities":{"com.example.x":true,"openharness.streaming":false}`),
	} {
		if of(body) != first {
			t.Errorf("another digest: %s", body)
		}
	}
	seen := map[string]string{first: base}
	for _, body := range []string{
		replaced(`hello`, `hello `), replaced(`"s"`, `"s2"`), replaced(`"t"`, `"t2"`), context(`"conversation_id":"s"`),
		context(`"continuation":{"run_id":"a"}`),
		context(`"continuation":{"continuation_token":"a"}`), context(`"continuation":{"sop_id":"a"}`),
		context(`"task_hint":{"sop_id":"a"}`), context(`"task_hint":{"plugin_id":"a"}`),
		context(`"task_hint":{"business_key":"a"}`), attachment(`"ref_id":"a"`), attachment(`"uri":"a"`),
		attachment(`"asset_id":"a"`), attachment(`"ref_id":"a","size_bytes":1`),
		attachment(`"ref_id":"a","mime_type":"b"`), attachment(`"ref_id":"a","filename":"b"`),
		context(`"attachments":[{"ref_id":"a"},{"ref_id":"b"}]`),
		context(`"attachments":[{"ref_id":"b"},{"ref_id":"a"}]`), root(`"capabilities":{"openharness.streaming":true}`),
		replaced(`"auth"`, `"extensions":{"dev.gatehouse":{"reason":"a"}},"auth"`),
	} {
		sum := of(body)
		if other, ok := seen[sum]; ok {
			t.Errorf("one digest of %s and %s", body, other)
		}
		seen[sum] = body
	}
	// That of an earlier version, which is stored with its events.
	const earlier = "ed222485bc1ddc664c33b24e86ee28d09857696c8d603e12e4a82359e3acc986"
	hints := `"task_hint":{"sop_id":"a","plugin_id":"b","business_key":"c"},"continuation":{"sop_id":"d"}`
	if got := of(context(hints)); got != earlier {
		t.Errorf("the digest has changed: %s", got)
	}
	if strings.ToLower(first) != first {
		t.Errorf("%q", first)
	}
}
