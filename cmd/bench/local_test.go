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

func TestStoreIsMeasuredBesideItsDriver(t *testing.T) {
	t.Parallel()
	all := tables(t, "store", "--sessions", "1,3", "--for", "1ms")
	if len(all) != 2 {
		t.Fatalf("%d tables", len(all))
	}
	for _, figures := range all {
		for _, thing := range storeThings {
			if f := figures[thing]; f["per_s"] <= 0 || f["of_single"] <= 0 || f["p99_ms"] < f["p50_ms"] {
				t.Errorf("%s: %v", thing, f)
			}
		}
	}
}

func TestGrowthIsMeasuredOnFullDatabases(t *testing.T) {
	t.Parallel()
	all := tables(t, "growth", "--gatehouse", gatehouse(t), "--histories", "10,200", "--idle", "300", "--suspended",
		"20", "--big", "3")
	if len(all) != 2 {
		t.Fatalf("%d tables", len(all))
	}
	if short, long := all[0]["10 messages"], all[0]["200 messages"]; short["cpu_us"] <= 0 || long["cpu_us"] <= 0 {
		t.Errorf("%v", all[0])
	}
	for _, name := range []string{"new", "empty", "20 suspended", "300 sessions", "3 MB"} {
		if f := all[1][name]; f["start_ms"] <= 0 || f["peak_rss_mb"] <= 0 || f["lost"] != 0 {
			t.Errorf("%s: %v", name, f)
		}
	}
	if size := all[1]["3 MB"]["size_mb"]; size < 3 {
		t.Errorf("the large database has %v MB", size)
	}
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
