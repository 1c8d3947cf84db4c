package main

import (
	"bytes"
	"testing"

	"gatehouse/core/hrf"
)

func TestUnknownBenchNamesTheKnownOnes(t *testing.T) {
	for _, args := range [][]string{nil, {"speed"}, {"hrf", "hrf"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

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
