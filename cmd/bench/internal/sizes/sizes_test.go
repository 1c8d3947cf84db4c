package sizes

import (
	"testing"

	"gatehouse/core/hrf"
	"gatehouse/core/typestate"
)

// TestEnvelopeOfTheBench shows that 5,000 steps make about 1 MB, and that nothing is found in them.
func TestEnvelopeOfTheBench(t *testing.T) {
	text := hrfEnvelope(5_000)
	e, report := hrf.Parse([]byte(text), hrf.Strict)
	if !report.Valid() || len(report.Warnings) > 0 {
		t.Fatalf("%+v", report)
	}
	if size := len(text); size < 900_000 || size > 1_100_000 {
		t.Errorf("%d bytes", size)
	}
	if got := count(e.Script.Steps); got != 5_000 {
		t.Errorf("%d steps", got)
	}
}

func count(steps []hrf.Step) int {
	n := len(steps)
	for _, s := range steps {
		if branch, ok := s.(*hrf.If); ok {
			n += count(branch.Then) + count(branch.Else)
		}
	}
	return n
}

// TestEvidenceOfTheBenchIsAccepted shows that the check finds nothing in the evidence.
func TestEvidenceOfTheBenchIsAccepted(t *testing.T) {
	in, err := typestate.Decode([]byte(evidence(10)))
	if err != nil {
		t.Fatal(err)
	}
	report, err := typestate.JoinCheck(in)
	if err != nil {
		t.Fatal(err)
	}
	if report.Result != typestate.Accepted || len(in.Evidence.ToolRequests) != 10 {
		t.Errorf("%d calls: %+v", len(in.Evidence.ToolRequests), report)
	}
}
