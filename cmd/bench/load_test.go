package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/cmd/bench/internal/load"
)

// TestMain makes the test binary the floor bot when a bench starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		main()
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// built is gatehouse, built once for all tests.
var built struct {
	once         sync.Once
	dir, program string
	err          error
}

func gatehouse(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "bench-test-"); built.err == nil {
			built.program, built.err = buildGatehouse(context.Background(), built.dir)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.program
}

// measured runs a bench and returns the figures of each bot by their keys.
func measured(t *testing.T, args ...string) map[string]map[string]float64 {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--json", "--events", "100", "--warm", "10", "--threads", "10")
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("bench %q ends with %d: %s", args, code, &stderr)
	}
	var all struct {
		Rows map[string]map[string]struct{ Median float64 }
	}
	if err := json.Unmarshal(stdout.Bytes(), &all); err != nil {
		t.Fatalf("%v\n%s", err, &stdout)
	}
	figures := map[string]map[string]float64{}
	for name, row := range all.Rows {
		figures[name] = map[string]float64{}
		for key, figure := range row {
			figures[name][key] = figure.Median
		}
	}
	return figures
}

func TestNothingIsLostOrDoubledInAnyMode(t *testing.T) {
	program := gatehouse(t)
	for _, over := range [][]string{{"slack"}, {"slack", "--socket"}, {"discord"}} {
		for _, mode := range load.Modes {
			t.Run(strings.Join(append(over, string(mode)), " "), func(t *testing.T) {
				t.Parallel()
				figures := measured(t, append(slices.Clone(over), "--gatehouse", program, "--mode", string(mode))...)["gatehouse"]
				if figures["replies_per_s"] <= 0 || figures["lost"] != 0 || figures["doubled"] != 0 {
					t.Errorf("%v", figures)
				}
			})
		}
	}
}

func TestFloorIsMeasuredBesideGatehouse(t *testing.T) {
	figures := measured(t, "compare", "--gatehouse", gatehouse(t), "--rate", "200")
	for _, name := range []string{"floor", "gatehouse"} {
		if figures[name]["replies_per_s"] <= 0 || figures[name]["cpu_ms_per_event"] <= 0 {
			t.Errorf("%s: %v", name, figures[name])
		}
	}
}

// TestLostAndDoubledRepliesAreFound measures the floor bot in a mode that it can't stand: it answers an event as often as it comes.
func TestLostAndDoubledRepliesAreFound(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"floor", "--events", "100", "--mode", "duplicates"}, &stdout, &stderr); code != 1 ||
		!bytes.Contains(stderr.Bytes(), []byte("of 100 events 0 have no reply, and 100 have more than one")) {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
}
