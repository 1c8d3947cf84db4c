package typestate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

// closed is the evidence of a turn that ran one tool; everything is in order.
const closed = `{"evidence":{
  "callSpec":{"callId":"call-1","modelRef":"m","actionMode":"json","executionPattern":"chain","normalizerId":"nf.v1",
    "mutationPolicyDigest":"mut","governancePolicyDigest":"gov","toolRenderProtocolDigest":"ren",` +
	`"reminderQueuePolicyDigest":"que",
    "stateViewPolicyDigest":"sta","decompositionPolicyDigest":"dec"},
  "toolRequests":[{"toolCallId":"a","toolName":"look"}],
  "toolResults":[{"toolCallId":"a","status":"ok","resultDigest":"sha256:r"}],
  "toolUse":[{"toolCallId":"a","disposition":"consumed","resultDigest":"sha256:r"}],
  "protocolState":{"stopReason":"tool_use","continuationAllowed":true},
  "toolRender":[{"toolCallId":"a","operatorPayloadDigest":"o","reminderRenderDigest":"e",` +
	`"injectionPoint":"tool_response","policyDigest":"ren"}],
  "reminderQueue":[{"queueId":"q","reducedDigest":"d","policyDigest":"que"}],
  "stateViews":[{"viewId":"v","viewDigest":"d","policyDigest":"sta"}],
  "sessionRefs":["s"],"trajectoryRefs":["t"]}}`

// edited is closed with texts replaced; each must be there.
func edited(t *testing.T, pairs ...string) string {
	t.Helper()
	text := closed
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("there is no %s", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func decode(t *testing.T, text string) typestate.Input {
	t.Helper()
	in, err := typestate.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func report(t *testing.T, text string) *typestate.Report {
	t.Helper()
	r, err := typestate.JoinCheck(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// result replaces the row of toolResults.
func result(row string) []string {
	return []string{`{"toolCallId":"a","status":"ok","resultDigest":"sha256:r"}`, `{"toolCallId":"a",` + row + `}`}
}

func classes(of []typestate.Class) string {
	return strings.Trim(strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(text(of), " "), "tool.", "")), " "),
		" ")
}

func text(of []typestate.Class) []string {
	all := make([]string, len(of))
	for i, c := range of {
		all[i] = string(c)
	}
	return all
}

func TestJoinCheck(t *testing.T) {
	top := func(member string) []string { return []string{`{"evidence":`, `{` + member + `,"evidence":`} }
	end := `"stopReason":"tool_use","continuationAllowed":true`
	for name, c := range map[string]struct {
		edits []string
		want  string
	}{
		"closed": {nil, ""},
		"no result": {
			[]string{`{"toolCallId":"a","status":"ok","resultDigest":"sha256:r"}`, ``},
			"join_incomplete result_missing use_without_result",
		},
		"no use": {[]string{`{"toolCallId":"a","disposition":"consumed","resultDigest":"sha256:r"}`, ``},
			"join_incomplete use_missing"},
		"an orphan": {
			[]string{`{"toolCallId":"a","toolName":"look"}`, ``}, "join_incomplete result_orphan",
		},
		"a use of nothing": {[]string{
			`"toolUse":[`, `"toolUse":[{"toolCallId":"x","disposition":"observed"},`,
		}, "join_incomplete use_without_result"},
		"an unknown stop":           {[]string{`"tool_use"`, `"refusal"`}, "protocol.stop_reason_unhandled"},
		"a stop in other letters":   {[]string{`"tool_use"`, `" Pause_Turn\u00a0"`}, ""},
		"a stop with a Kelvin sign": {[]string{`"tool_use"`, `"max_to\u212Aens"`}, "protocol.stop_reason_unhandled"},
		"consumed at the end": {[]string{
			end, `"stopReason":"end_turn"`, `{"queueId":"q","reducedDigest":"d","policyDigest":"que"}`, ``,
		}, "context.queue_policy_violation"},
		"observed at the end": {[]string{
			end, `"stopReason":"end_turn"`, `"consumed"`, `"observed"`,
			`{"queueId":"q","reducedDigest":"d","policyDigest":"que"}`, ``,
		}, ""},
		"no view": {
			[]string{`{"viewId":"v","viewDigest":"d","policyDigest":"sta"}`, ``}, "context.injection_point_missing",
		},
		"a view of another policy": {
			[]string{`"policyDigest":"sta"`, `"policyDigest":"old"`}, "context.queue_policy_violation",
		},
		"no render": {
			[]string{`"toolRender":[{"toolCallId":"a"`, `"toolRender":[{"toolCallId":"b"`},
			"context.injection_point_missing",
		},
		"transport order false": {
			top(`"protocolConstraints":{"parallelTransportOrderValid":false}`),
			"protocol.parallel_transport_order_invalid",
		},
		"transport order null": {top(`"protocolConstraints":{"parallelTransportOrderValid":null}`), ""},
		"another pattern": {
			top(`"decompositionConstraints":{"expectedExecutionPattern":" SINGLE "}`),
			"coordination.decomposition_policy_violation",
		},
		"the pattern, other letters": {top(
			`"decompositionConstraints":{"expectedExecutionPattern":" CHAIN ","expectedPolicyDigest":" "}`), ""},
		"digests keep their case": {
			top(`"decompositionConstraints":{"expectedPolicyDigest":"DEC"}`),
			"coordination.decomposition_policy_violation",
		},
		"inadmissible": {
			top(`"decompositionConstraints":{"admissible":false}`), "coordination.decomposition_policy_violation",
		},
		"not cut": {
			top(`"truncationConstraints":{"required":true}`), "response_truncation_policy_violation",
		},
		"cut, not asked": {top(`"truncationConstraints":{"valid":false}`), ""},
		"no packet, blank demands": {top(
			`"handoffConstraints":{"requiredArtifactRefs":[" "],"allowedTargets":[""]}`), ""},
		"no packet": {
			top(`"handoffConstraints":{"allowedTargets":["x"],"requireReturnPath":true}`),
			"handoff.return_path_missing handoff.target_not_allowed",
		},
		"an error, typed": {result(
			`"status":"error","errorCode":"x","retryable":false,"errorMessage":"m"`), ""},
		"an error, mixed": {result(
			`"status":"error","errorCode":"x","rawError":{"retryable":true,"errorMessage":3,"message":"m"}`), ""},
		"an error, no flag": {
			result(`"status":"error","errorCode":"x","errorMessage":"m"`), "schema_invalid",
		},
		"an error by its raw text": {result(`"rawError":"boom"`), "schema_invalid"},
		"a null raw error":         {result(`"rawError":null`), ""},
		"ok with error material":   {result(`"status":"ok","errorCode":"x"`), ""},
		"another claim, unclaimed": {
			top(`"governanceProfile":{"claimId":"profile.other","claimed":false}`), "governance.claim_id_invalid",
		},
		"a claim without provenance": {
			top(`"governanceProfile":{"claimed":true}`), "governance.policy_package_unpinned",
		},
		"a claim, digests differ": {top(
			`"governanceProfile":{"claimed":true,"policyProvenance":{"pinned":true,"packageRef":"p",` +
				`"expectedDigest":"a","boundDigest":"A"}}`),
			"governance.policy_package_mismatch"},
		"everything at once, one list": {append(
			top(`"truncationConstraints":{"required":true},"governanceProfile":{"claimed":true}`), `"tool_use"`, `"x"`),
			"governance.policy_package_unpinned protocol.stop_reason_unhandled response_truncation_policy_violation"},
	} {
		r := report(t, edited(t, c.edits...))
		if got := classes(r.FailureClasses); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if r.JoinClosed != (c.want == "") || (r.Result == typestate.Accepted) != r.JoinClosed {
			t.Errorf("%s: closed %t, %s", name, r.JoinClosed, r.Result)
		}
	}
}

func TestGovernanceLeavesTheStructureClosed(t *testing.T) {
	r := report(t, edited(t, `{"evidence":`, `{"governanceProfile":{"claimed":true},"evidence":`))
	if r.JoinClosed || !r.Normalized.JoinState.JoinClosed || !r.Witness.JoinInput.JoinClosed ||
		!r.Witness.MutationInput.JoinClosed {
		t.Errorf("%+v", r)
	}
}

func TestRefused(t *testing.T) {
	for name, edits := range map[string][]string{
		"a null list":                {`"sessionRefs":["s"]`, `"sessionRefs":null`},
		"a null flag with a default": {`"continuationAllowed":true`, `"continuationAllowed":null`},
		"a null required text":       {`"modelRef":"m"`, `"modelRef":null`},
		"a key in other letters":     {`"modelRef"`, `"modelref"`},
		"a repeated key":             {`"modelRef":"m"`, `"modelRef":"m","modelRef":"m"`},
		"a repeated list":            {`"sessionRefs":["s"]`, `"sessionRefs":["s"],"sessionRefs":[]`},
		"a number for a text":        {`"modelRef":"m"`, `"modelRef":1`},
		"a text for a flag":          {`"continuationAllowed":true`, `"continuationAllowed":"true"`},
		"a null row":                 {`"toolUse":[`, `"toolUse":[null,`},
		"a list for an object": {
			`"protocolState":{"stopReason":"tool_use","continuationAllowed":true}`, `"protocolState":["tool_use",true]`,
		},
		"a null reference": {`["s"]`, `[null]`},
		"pinned not said": {
			`{"evidence":`, `{"governanceProfile":{"claimed":true,"policyProvenance":{}},"evidence":`,
		},
		"trailing data":          {`"trajectoryRefs":["t"]}}`, `"trajectoryRefs":["t"]}} 1`},
		"half a surrogate":       {`"modelRef":"m"`, `"modelRef":"\ud800"`},
		"a payload out of range": {`"resultDigest":"sha256:r"}`, `"payload":1e999}`},
	} {
		if _, err := typestate.Decode([]byte(edited(t, edits...))); core.CategoryOf(err) != core.Invalid ||
			core.MessageOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIgnored(t *testing.T) {
	plain := report(t, closed)
	for name, edits := range map[string][]string{
		"an unknown key":        {`"modelRef":"m"`, `"modelRef":"m","MODELREF":7`},
		"an unknown key, twice": {`"modelRef":"m"`, `"x":1,"modelRef":"m","x":2`},
		"null optionals":        {`"toolName":"look"`, `"toolName":"look","schemaDigest":null,"callerId":" "`},
		"null objects": {
			`{"evidence":{`, `{"governanceProfile":null,"handoffConstraints":null,"evidence":{"handoff":null,`,
		},
		"a payload beside digest": {
			`"resultDigest":"sha256:r"}`, `"resultDigest":" sha256:r ","payload":{"x":1,"x":2}}`,
		},
		"the same row twice": {`"toolRequests":[`, `"toolRequests":[{"toolCallId":" a","toolName":"look\u2003"},`},
	} {
		if r := report(t, edited(t, edits...)); string(r.JSON()) != string(plain.JSON()) {
			t.Errorf("%s changes the report:\n%s", name, r.JSON())
		}
	}
}

func TestNormalisationFaults(t *testing.T) {
	for want, edits := range map[string][]string{
		"callSpec.modelRef must be non-empty": {`"modelRef":"m"`,
			`"modelRef":" \u3000"`},
		"toolRequests[].toolCallId must be non-empty": {`{"toolCallId":"a","toolName":"look"}`,
			`{"toolCallId":"","toolName":""}`},
		"toolResults[].status invalid: unsupported value `pending` (expected `ok` or `error`)": {`"status":"ok"`,
			`"status":" PENDING"`},
		"toolUse[].disposition invalid: unsupported value `observed_only` (expected " +
			"consumed|observed|discarded)": {`{"toolCallId":"a","disposition":"consumed"`,
			`{"toolCallId":"","disposition":"observed_only"`},
		"stateViews contains conflicting duplicate toolCallId: v": {
			`"stateViews":[`, `"stateViews":[{"viewId":"v ","viewDigest":"D","policyDigest":"sta"},`,
		},
	} {
		_, err := typestate.JoinCheck(decode(t, edited(t, edits...)))
		if core.CategoryOf(err) != core.Invalid || core.MessageOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	first := edited(t, `"modelRef":"m"`, `"modelRef":""`, `"status":"ok"`, `"status":"x"`)
	if _, err := typestate.JoinCheck(decode(t, first)); core.MessageOf(err) != "callSpec.modelRef must be non-empty" {
		t.Errorf("the first fault wins: %v", err)
	}
}

// TestDigests binds bytes: each hash is that of the text beside it.
func TestDigests(t *testing.T) {
	for payload, canonical := range map[string]string{
		`{"b":1,"a":[true,null,"x"]}`:              `{"a":[true,null,"x"],"b":1}`,
		`"<a href=\"/\">&\u2028\u2029é\u007f"`:     "\"<a href=\\\"/\\\">&\u2028\u2029é\x7f\"",
		`"\b\t\n\f\r\u0000\u001f\u001F\\"`:         `"\b\t\n\f\r\u0000\u001f\u001f\\"`,
		`{"é":1,"z":2,"Z":3,"\ud83d\ude00":4}`:     `{"Z":3,"z":2,"é":1,"😀":4}`,
		`[1.0,1e2,-0,0.1,18446744073709551615]`:    `[1.0,100.0,-0.0,0.1,18446744073709551615]`,
		`[18446744073709551616,123456.5e-2,1e-05]`: `[1.8446744073709552e19,1234.565,0.00001]`,
		`[1e15,9999999999999998.0,1e-6]`:           `[1000000000000000.0,9999999999999998.0,1e-6]`,
		`{"x":1,"x":2}`:                            `{"x":2}`,
	} {
		r := report(t, edited(t, `"resultDigest":"sha256:r"}`, `"payload":`+payload+`}`))
		if got, want := r.Normalized.ToolResults[0].ResultDigest, typestate.Digest(canonical); got != want {
			t.Errorf("%s: %s, want that of %s", payload, got, canonical)
		}
	}
	if got := typestate.Digest("[]"); got != "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945" {
		t.Errorf("of nothing: %s", got)
	}
}

func TestTrimming(t *testing.T) {
	for space, trimmed := range map[string]bool{
		` \t\r\n`: true, "\\u000b\\u000c": true, "\\u0085": true, "\\u00a0": true, "\\u1680": true,
		"\\u2000\\u200a": true,
		"\\u2028\\u2029": true, "\\u202f\\u205f": true, "\\u3000": true, "\\u200b": false, "\\ufeff": false,
		"\\u180e": false, "\\u001f": false,
	} {
		r := report(t, edited(t, `"modelRef":"m"`, `"modelRef":"`+space+`m`+space+`"`))
		if got := r.Normalized.CallSpec.ModelRef; (got == "m") != trimmed {
			t.Errorf("%s: %q", space, got)
		}
	}
}

func TestOnlyASCIIIsFolded(t *testing.T) {
	n := report(t,
		edited(t, `"json"`, `"J\u0130SON"`, `"modelRef":"m"`, `"modelRef":"GPT"`, `"tool_response"`, `"Tool_Response"`,
			`"consumed"`, `"CONSUMED"`)).Normalized
	if n.CallSpec.ActionMode != "jİson" || n.CallSpec.ModelRef != "GPT" ||
		n.ToolRender[0].InjectionPoint != "tool_response" || n.ToolUse[0].Disposition != "consumed" {
		t.Errorf("%+v", n)
	}
}

func TestRawErrorQuirks(t *testing.T) {
	n := report(t, edited(t, result(`"rawError":{"detail":1}`)...)).Normalized.ToolResults[0]
	if n.Status != typestate.OK || n.Error != nil {
		t.Errorf("nothing usable in it: %+v", n)
	}
	n = report(t,
		edited(t, result(`"rawError":{"errorCode":7,"code":"x","retryable":true}`)...)).Normalized.ToolResults[0]
	if n.Status != typestate.Failed || n.Error.ErrorCode != "unknown_error" || !n.Error.Retryable ||
		n.Error.ErrorMessageDigest != typestate.Digest("") {
		t.Errorf("the first name counts, usable or not: %+v", n.Error)
	}
}

func TestEmptyListsAreLeftOut(t *testing.T) {
	r := report(t, closed)
	for _, key := range []string{"missingResultCallIds", "missingRenderCallIds", "sourceRefs", "handoffDigest"} {
		if strings.Contains(string(r.JSON()), key) {
			t.Errorf("%s is in the report", key)
		}
	}
	if !strings.Contains(string(r.JSON()), `"failureClasses": [],`) {
		t.Error("failureClasses must be there always")
	}
	var keys struct{ Witness json.RawMessage }
	if err := json.Unmarshal(r.JSON(), &keys); err != nil || slices.Contains(keys.Witness, 0) {
		t.Error(err)
	}
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	two := func(a, b string) string {
		return edited(t, `"sessionRefs":["s"]`, `"sessionRefs":["`+a+`","`+b+`","`+a+`"]`, `"toolRequests":[`,
			`"toolRequests":[{"toolCallId":"`+a+`","toolName":"x"},{"toolCallId":"`+b+`","toolName":"x"},`)
	}
	if a, b := report(t, two("x", "y")), report(t, two("y", "x")); string(a.JSON()) != string(b.JSON()) {
		t.Error("another order, another report")
	}
}
