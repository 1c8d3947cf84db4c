package sizes

import (
	"strconv"
	"strings"

	"gatehouse/core/typestate"
)

// Typestate is the join check of turns with 10 to 1,000 calls of tools.
var Typestate = Check{Unit: "calls", Sizes: []int{10, 100, 1_000}, Text: evidence, Do: func(text []byte) error {
	in, err := typestate.Decode(text)
	if err != nil {
		return err
	}
	_, err = typestate.JoinCheck(in)
	return err
}}

// evidence is what a turn did that called tools: each call has a result, which is used and rendered, so that the check
// finds nothing.
func evidence(calls int) string {
	all := func(row string) string {
		var b strings.Builder
		for i := range calls {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strings.ReplaceAll(row, "#", strconv.Itoa(i)))
		}
		return b.String()
	}
	return `{"evidence": {
		"callSpec": {"callId": "call", "modelRef": "model", "actionMode": "json", "executionPattern": "chain", "normalizerId": "nf.v1",
			"mutationPolicyDigest": "sha256:m", "governancePolicyDigest": "sha256:g", "toolRenderProtocolDigest": "sha256:r", "reminderQueuePolicyDigest": "sha256:q",
			"stateViewPolicyDigest": "sha256:v", "decompositionPolicyDigest": "sha256:d"},
		"protocolState": {"stopReason": "tool_use", "continuationAllowed": true},
		"toolRequests": [` + all(`{"toolCallId": "tool-#", "toolName": "orders.find_order"}`) + `],
		"toolResults": [` + all(`{"toolCallId": "tool-#", "status": "ok", "resultDigest": "sha256:result-#"}`) + `],
		"toolUse": [` + all(`{"toolCallId": "tool-#", "disposition": "consumed", "resultDigest": "sha256:result-#"}`) + `],
		"toolRender": [` + all(`{"toolCallId": "tool-#", "operatorPayloadDigest": "sha256:o#", "reminderRenderDigest": "sha256:e#", "injectionPoint": "tool_response", "policyDigest": "sha256:r"}`) + `],
		"reminderQueue": [{"queueId": "queue", "reducedDigest": "sha256:x", "policyDigest": "sha256:q"}],
		"stateViews": [{"viewId": "view", "viewDigest": "sha256:y", "policyDigest": "sha256:v"}],
		"sessionRefs": ["session"], "trajectoryRefs": ["trajectory"]}}`
}
