package typestate_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

// FuzzJoinCheck: any bytes give a report or an invalid error; a report is JSON, its result is accepted exactly if it
// has no classes, and normalising its normal form again changes nothing.
func FuzzJoinCheck(f *testing.F) {
	f.Add([]byte(closed))
	f.Add(
		[]byte(
			`{"evidence":{"toolResults":[{"toolCallId":"a","payload":[1.5e300,-0,"\u2028"],` +
				`"rawError":{"code":"x"}}]}}`))
	f.Add([]byte(`{"evidence":{"callSpec":{"callId":"1","callId":"2"}},"governanceProfile":{"claimed":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := typestate.Decode(data)
		if err != nil {
			invalid(t, err)
			return
		}
		r, err := typestate.JoinCheck(in)
		if err != nil {
			invalid(t, err)
			return
		}
		if !json.Valid(r.JSON()) || r.JoinClosed != (len(r.FailureClasses) == 0) ||
			r.JoinClosed && !r.Normalized.JoinState.JoinClosed {
			t.Fatalf("%s", r.JSON())
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := typestate.Decode(text)
		if err != nil {
			t.Fatalf("our own form of the input is refused: %v\n%s", err, text)
		}
		if second, err := typestate.JoinCheck(again); err != nil || second.Normalized.Digests != r.Normalized.Digests {
			t.Fatalf("the input written and read again: %v\n%+v\n%+v", err, second.Normalized.Digests,
				r.Normalized.Digests)
		}
	})
}

// FuzzMutation: no bytes make a mutation ready but those that carry closed evidence.
func FuzzMutation(f *testing.F) {
	f.Add(
		[]byte(`{"mutation":{"action":"x","activeMutationPolicyDigest":"mut"},"joinCheckInput":` + closed +
			`,"joinGate":null}`))
	f.Add(
		[]byte(
			`{"mutation":{"action":"x"},"joinCheckInput":7,"joinGate":{"joinClosed":true,` +
				`"joinFailureClasses":["a"],"joinWitnessRef":"w"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := typestate.DecodeMutation(data)
		if err != nil {
			invalid(t, err)
			return
		}
		v, _ := m.Check()
		if !json.Valid(v.JSON()) || v.MutationReady != (len(v.FailureClasses) == 0) ||
			v.MutationReady && m.Evidence == nil {
			t.Fatalf("%s", v.JSON())
		}
	})
}

func invalid(t *testing.T, err error) {
	if core.CategoryOf(err) != core.Invalid || core.MessageOf(err) == "" {
		t.Fatalf("%v", err)
	}
}
