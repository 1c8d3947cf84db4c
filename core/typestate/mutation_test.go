package typestate_test

import (
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

var now = typestate.Readiness{PolicyDigest: "mut", WitnessRef: "w"}

func TestMutationReady(t *testing.T) {
	for name, c := range map[string]struct {
		edits []string
		now   typestate.Readiness
		want  string
	}{
		"ready":            {nil, now, ""},
		"no active policy": {nil, typestate.Readiness{WitnessRef: "w"}, "mutation.policy_digest_mismatch"},
		"another policy": {
			[]string{`"mutationPolicyDigest":"mut"`, `"mutationPolicyDigest":"old"`}, now,
			"mutation.policy_digest_mismatch",
		},
		"no session": {
			[]string{`"sessionRefs":["s"]`, `"sessionRefs":[" "]`}, now, "mutation.use_evidence_missing",
		},
		"no trajectory": {
			[]string{`"trajectoryRefs":["t"]`, `"trajectoryRefs":[]`}, now, "mutation.use_evidence_missing",
		},
		"no witness": {nil, typestate.Readiness{PolicyDigest: "mut"}, "mutation.use_evidence_missing"},
		"not closed": {
			[]string{`{"toolCallId":"a","disposition":"consumed","resultDigest":"sha256:r"}`, ``}, now,
			"join_incomplete use_missing",
		},
		"no context": {
			[]string{`{"viewId":"v","viewDigest":"d","policyDigest":"sta"}`, ``}, now,
			"context.injection_point_missing",
		},
		"another mode": {[]string{`"json"`, `"xml"`}, now, "protocol.action_mode_invalid"},
		"free text":    {[]string{`"json"`, `"TEXT"`}, now, "protocol.action_mode_invalid"},
		"free text, adapted": {
			[]string{`"json"`, `"text"`},
			typestate.Readiness{PolicyDigest: "mut", WitnessRef: "w", Adapters: []string{"nf.v1"}}, "",
		},
		"another's result": {[]string{
			`"disposition":"consumed","resultDigest":"sha256:r"`, `"disposition":"consumed","resultDigest":"sha256:x"`,
		}, now, "use_without_result"},
		"a pattern unjudged": {[]string{`"chain"`, `"fanout"`}, now, "coordination.decomposition_policy_violation"},
		"a transfer, no packet": {
			[]string{
				`"chain"`, `" Transfer"`, `{"evidence"`, `{"decompositionConstraints":{"admissible":true},"evidence"`,
			}, now,
			"handoff.required_artifact_missing handoff.return_path_missing handoff.target_not_allowed",
		},
		"a transfer, its packet": {
			[]string{
				`"chain"`, `"transfer","x":1`, `{"evidence"`,
				`{"decompositionConstraints":{"admissible":true},"evidence"`, `"sessionRefs"`,
				`"handoff":{"target":"t"},"sessionRefs"`,
			}, now, "",
		},
		"a pattern judged": {[]string{
			`"chain"`, `"fanout"`, `{"evidence"`, `{"decompositionConstraints":{"admissible":true},"evidence"`,
		}, now, ""},
		"a stage at a time": {
			[]string{`"sessionRefs":["s"]`, `"sessionRefs":[]`, `"tool_use"`, `"x"`}, now,
			"protocol.stop_reason_unhandled",
		},
		"an error, consumed": {append(
			result(`"status":"error","errorCode":"approval.denied","retryable":false,"errorMessage":"no"`),
			`,"resultDigest":"sha256:r"}`, `}`), now, ""},
		"governance, claimed": {
			[]string{`{"evidence"`, `{"governanceProfile":{"claimed":true},"evidence"`}, now,
			"governance.policy_package_unpinned",
		},
	} {
		text := edited(t, c.edits...)
		v := typestate.MutationReady(report(t, text), decode(t, text), c.now)
		if got := classes(v.FailureClasses); got != c.want || v.MutationReady != (c.want == "") {
			t.Errorf("%s: %t %q, want %q", name, v.MutationReady, got, c.want)
		}
		if err := v.Refusal(); (err == nil) != v.MutationReady ||
			err != nil && core.CategoryOf(err) != core.NotAllowed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := typestate.MutationReady(nil, typestate.Input{}, now); v.MutationReady ||
		classes(v.FailureClasses) != "mutation.use_evidence_missing" {
		t.Errorf("without a join check: %+v", v)
	}
}

func TestMutationCheck(t *testing.T) {
	const linked = `{"joinClosed":true,"joinFailureClasses":[],"joinWitnessRef":"w"}`
	for name, c := range map[string]struct{ evidence, gate, want string }{
		"evidence and gate":     {closed, linked, ""},
		"evidence, judged here": {closed, `null`, ""},
		"nothing":               {`null`, `null`, "mutation.use_evidence_missing"},
		"an empty gate":         {`null`, `{}`, "mutation.use_evidence_missing"},
		"a gate of nulls": {
			`null`, `{"joinClosed":null,"joinFailureClasses":null,"joinWitnessRef":" "}`,
			"mutation.use_evidence_missing",
		},
		"a gate alone":             {`null`, linked, "mutation.use_evidence_missing"},
		"a gate alone, not closed": {`null`, `{"joinClosed":false}`, "join_incomplete"},
		"a gate alone, no flag":    {`null`, `{"joinFailureClasses":[" "]}`, "join_incomplete"},
		"recorded classes": {
			`null`, `{"joinClosed":true,"joinFailureClasses":["b"," ","a"]}`, "a b",
		},
		"recorded classes beside evidence": {
			closed, `{"joinClosed":true,"joinFailureClasses":["x"],"joinWitnessRef":"w"}`, "x",
		},
		"the gate says closed, evidence open": {
			edited(t, `"tool_use"`, `"x"`), linked, "protocol.stop_reason_unhandled",
		},
		"the gate says open, evidence closed": {
			closed, `{"joinClosed":false,"joinWitnessRef":"w"}`, "join_incomplete",
		},
		"no witness beside evidence": {closed, `{"joinClosed":true}`, "mutation.use_evidence_missing"},
		"evidence of another policy": {
			edited(t, `"mut"`, `"old"`), linked, "mutation.policy_digest_mismatch",
		},
		"evidence that is none": {`{"evidence":{}}`, linked, "mutation.use_evidence_missing"},
		"evidence that has no form": {
			edited(t, `"modelRef":"m"`, `"modelRef":" "`), `null`, "mutation.use_evidence_missing",
		},
		"evidence that is none, a class known": {`7`, `{"joinFailureClasses":["x"]}`, "x"},
	} {
		m, err := typestate.DecodeMutation(
			[]byte(`{"mutation":{"action":"issue.update","activeMutationPolicyDigest":"mut"},"joinCheckInput":` +
				c.evidence + `,"joinGate":` + c.gate + `}`))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v, fault := m.Check()
		if got := classes(v.FailureClasses); got != c.want || v.MutationReady != (c.want == "") {
			t.Errorf("%s: %t %q, want %q", name, v.MutationReady, got, c.want)
		}
		if (fault != nil) != strings.HasPrefix(name, "evidence that") {
			t.Errorf("%s: fault %v", name, fault)
		}
	}
}

// Who judges says which normalizers it trusts; what the evidence names counts for nothing.
func TestMutationCheckTrustsTheCallersNormalizersAlone(t *testing.T) {
	m, err := typestate.DecodeMutation(
		[]byte(`{"mutation":{"action":"x","activeMutationPolicyDigest":"mut"},"joinCheckInput":` +
			edited(t, `"json"`, `"text"`) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"": "protocol.action_mode_invalid", "other": "protocol.action_mode_invalid", "other nf.v1": "",
	} {
		if v, _ := m.Check(strings.Fields(list)...); classes(v.FailureClasses) != want {
			t.Errorf("%q: %v, want %q", list, v.FailureClasses, want)
		}
	}
}

func TestTheDigestThatApprovalsHoldLeavesOutThePattern(t *testing.T) {
	of := func(pairs ...string) string { return report(t, edited(t, pairs...)).Normalized.CallSpec.Bound() }
	if of() != of(`"chain"`, `"single"`) || of() == of(`"nf.v1"`, `"nf.v2"`) {
		t.Error("it must cover all but the pattern")
	}
}

func TestInvalidMutationInput(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{}`, `{"mutation":null}`, `{"mutation":{}}`, `{"mutation":{"action":" "}}`,
		`{"mutation":{"action":"x"},"joinGate":1}`,
		`{"mutation":{"action":"x"},"joinGate":{"joinClosed":"yes"}}`,
		`{"mutation":{"action":"x"},"joinGate":{"joinClosed":true,"joinClosed":true}}`,
	} {
		if _, err := typestate.DecodeMutation([]byte(text)); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}
