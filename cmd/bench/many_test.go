package main

import (
	"bytes"
	"testing"
)

// tables runs a bench and returns the figures of each row of each table.
func tables(t *testing.T, args ...string) []map[string]map[string]float64 {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append(args, "--json", "--runs", "1"), &stdout, &stderr); code != 0 {
		t.Fatalf("bench %q ends with %d: %s", args, code, &stderr)
	}
	return figuresIn(t, &stdout)
}

func TestManyTurnsWaitBesideShortOnes(t *testing.T) {
	t.Parallel()
	const delay = 2 // seconds
	all := tables(t, "many", "--gatehouse", gatehouse(t), "--turns", "30", "--delay", "2s", "--watch", "10ms",
		"--short", "2")
	f := all[0]["30 at once"]
	if f["took_s"] < delay || f["late_p50_ms"] < 0 || f["short_p50_ms"] <= 0 || f["waiting_cpu_ms_per_s"] < 0 ||
		f["lost"] != 0 || f["doubled"] != 0 {
		t.Errorf("%v", f)
	}
}
