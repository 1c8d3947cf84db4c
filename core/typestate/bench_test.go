package typestate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gatehouse/core/typestate"
)

// BenchmarkJoinCheck reads and checks the evidence of turns with 10 to 1,000 tool calls. MB/s stays about the same at
// each size while the check is linear.
func BenchmarkJoinCheck(b *testing.B) {
	for _, calls := range []int{10, 100, 1_000} {
		text := []byte(longEvidence(calls))
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				in, err := typestate.Decode(text)
				if err != nil {
					b.Fatal(err)
				}
				report, err := typestate.JoinCheck(in)
				if err != nil || report.Result != typestate.Accepted || len(in.Evidence.ToolRequests) != calls {
					b.Fatalf("%+v, %v", report, err)
				}
			}
		})
	}
}

// longEvidence is the evidence of a turn that called tools: each call has a result, which is used and rendered, so the
// check finds nothing.
func longEvidence(calls int) string {
	all := func(row string) string {
		rows := make([]string, calls)
		for i := range rows {
			rows[i] = strings.ReplaceAll(row, "#", strconv.Itoa(i))
		}
		return strings.Join(rows, ",")
	}
	return `{"evidence": {
		"callSpec": {"callId": "call", "modelRef": "model", "actionMode": "json", "executionPattern": "chain",
			"normalizerId": "nf.v1", "mutationPolicyDigest": "sha256:m", "governancePolicyDigest": "sha256:g",
			"toolRenderProtocolDigest": "sha256:r", "reminderQueuePolicyDigest": "sha256:q",
			"stateViewPolicyDigest": "sha256:v", "decompositionPolicyDigest": "sha256:d"},
		"protocolState": {"stopReason": "tool_use", "continuationAllowed": true},
		"toolRequests": [` + all(`{"toolCallId": "tool-#", "toolName": "orders.find_order"}`) + `],
		"toolResults": [` + all(`{"toolCallId": "tool-#", "status": "ok", "resultDigest": "sha256:result-#"}`) + `],
		"toolUse": [` + all(
		`{"toolCallId": "tool-#", "disposition": "consumed", "resultDigest": "sha256:result-#"}`) + `],
		"toolRender": [` + all(`{"toolCallId": "tool-#", "operatorPayloadDigest": "sha256:o#",
			"reminderRenderDigest": "sha256:e#", "injectionPoint": "tool_response", "policyDigest": "sha256:r"}`) + `],
		"reminderQueue": [{"queueId": "queue", "reducedDigest": "sha256:x", "policyDigest": "sha256:q"}],
		"stateViews": [{"viewId": "view", "viewDigest": "sha256:y", "policyDigest": "sha256:v"}],
		"sessionRefs": ["session"], "trajectoryRefs": ["trajectory"]}}`
}
