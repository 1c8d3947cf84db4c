package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/adapters/openharness/internal/wire"
)

func decodeOwn(t *testing.T, own string) (wire.Request, *wire.Fault) {
	t.Helper()
	return wire.Decode(
		fmt.Appendf(nil,
			`{"protocol_version":"1.0.0","request":{"context":{"continuation":{"continuation_token":"t"}},`+
				`"extensions":{"dev.gatehouse":%s}}}`,
			own),
		wire.Limits{})
}

// TestAnswersInExtensions: an answer is any JSON, and tells one request from another; the order of its keys does not.
func TestAnswersInExtensions(t *testing.T) {
	digests := map[string]string{}
	for _, answer := range []string{`"b"`, `2.50`, `true`, `{"count":3,"size":"m"}`, `[1]`} {
		r, fault := decodeOwn(t, `{"answer":`+answer+`}`)
		if fault != nil || string(r.Answer) != answer {
			t.Errorf("%s is read as %s, %v", answer, r.Answer, fault)
		}
		if same := digests[r.Digest()]; same != "" {
			t.Errorf("%s and %s have one digest", answer, same)
		}
		digests[r.Digest()] = answer
	}
	turned, _ := decodeOwn(t, `{"answer": {"size":"m", "count":3}}`)
	if digests[turned.Digest()] == "" {
		t.Error("the order of an answer's keys changes the digest")
	}
	if none, fault := decodeOwn(t, `{"answer":null}`); none.Answer != nil || fault != nil {
		t.Errorf("null is read as %s, %v", none.Answer, fault)
	}
	typed, fault := decodeOwn(t, `{"typed":["2",""]}`)
	if fault != nil || strings.Join(typed.Typed, "|") != "2|" || digests[typed.Digest()] != "" {
		t.Errorf("a form is read as %q, %v", typed.Typed, fault)
	}
	for _, own := range []string{
		`{"typed":"2"}`, `{"typed":["2",3]}`, `{"typed":[` + strings.Repeat(`"",`, 10) + `""]}`,
	} {
		if _, fault := decodeOwn(t, own); fault == nil || fault.Field != "extensions.dev.gatehouse.typed" {
			t.Errorf("%s is answered with %+v", own, fault)
		}
	}
}
