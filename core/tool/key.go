package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"gatehouse/core"
)

// actKey is the key of a mutating call: its approval's id. An approval admits one call, so no other call has this key,
// and every attempt to run the call has it.
func actKey(id core.ApprovalID) string { return string(id) }

// ReadKey is the key of a call that runs without an approval: it names the invocation, the answer of the model that
// asks for the call (round), and the call's place in that answer, from its end. An event that is processed again has
// the same invocation, so the call has the same key again. The digest of tool and arguments is in it too: if the model
// asks for something else the second time, that is another call.
func ReadKey(invocation core.InvocationID, round, place int, call core.ToolCall) string {
	digest, err := Digest(call.Name, call.Arguments)
	if err != nil {
		digest = "" // such a call does not run
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %s", invocation, round, place, digest))
	return "read-" + hex.EncodeToString(sum[:16])
}
