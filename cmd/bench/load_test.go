package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
)

// TestMain makes the test binary the floor bot when a bench starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == floorCommand {
		main()
	}
	// unless -parallel is given: bots that are killed wait most of the time
	_ = flag.Set("test.parallel", "6")
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

// gatehouse is the program that GATEHOUSE_TEST_RELEASED names, or one that is built.
func gatehouse(t *testing.T) string {
	t.Helper()
	if program := os.Getenv("GATEHOUSE_TEST_RELEASED"); program != "" {
		return program
	}
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
	return figuresIn(t, &stdout)[0]
}

// figuresIn reads what benches print with --json: for each table the figures of each row by their keys.
func figuresIn(t *testing.T, out io.Reader) (tables []map[string]map[string]float64) {
	t.Helper()
	for d := json.NewDecoder(out); ; {
		var all struct {
			Rows map[string]map[string]struct{ Median float64 }
		}
		if err := d.Decode(&all); errors.Is(err, io.EOF) {
			return tables
		} else if err != nil {
			t.Fatal(err)
		}
		figures := map[string]map[string]float64{}
		for name, row := range all.Rows {
			figures[name] = map[string]float64{}
			for key, figure := range row {
				figures[name][key] = figure.Median
			}
		}
		tables = append(tables, figures)
	}
}

// TestNothingIsLostOrDoubledInAnyMode kills gatehouse only where its events come by one way of each platform: a post
// that was being sent may take a minute until it is sure that it did not arrive.
func TestNothingIsLostOrDoubledInAnyMode(t *testing.T) {
	program := gatehouse(t)
	for _, over := range [][]string{{"slack"}, {"slack", "--socket"}, {"discord"}, {"discord", "--interactions"}} {
		for _, mode := range load.Modes {
			if mode == load.Kill && len(over) > 1 {
				continue
			}
			t.Run(strings.Join(append(over, string(mode)), " "), func(t *testing.T) {
				t.Parallel()
				figures := measured(t,
					append(slices.Clone(over), "--gatehouse", program, "--mode", string(mode))...)["gatehouse"]
				if figures["replies_per_s"] <= 0 || figures["lost"] != 0 || figures["doubled"] != 0 {
					t.Errorf("%v", figures)
				}
			})
		}
	}
}

// TestBotsAreComparedAtSeveralRates has the floor bot as the peer, started by a command.
func TestBotsAreComparedAtSeveralRates(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plot := filepath.Join(t.TempDir(), "plot.svg")
	var stdout, stderr bytes.Buffer
	args := []string{
		"compare", "--gatehouse", gatehouse(t), "--command", "exec '" + self + "' " + floorCommand, "--url",
		"http://127.0.0.1:PORT/events", "--warm", "10",
		"--rates", "10,20", "--svg", plot, "--sweep", "1s", "--idle", "10ms",
	}
	if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{
		"10 events a second:", "20 events a second:", "gatehouse/floor", "gatehouse/peer", "CPU when idle",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &stdout)
		}
	}
	if text, err := os.ReadFile(plot); err != nil || bytes.Count(text, []byte("<polyline")) != 6 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestLostAndDoubledRepliesAreFound measures the floor bot where it fails: it answers an event as often as it comes,
// and forgets what it waits with when it is killed.
func TestLostAndDoubledRepliesAreFound(t *testing.T) {
	for mode, want := range map[string]string{
		"duplicates": "of 100 events 0 have no reply, and 100 have more than one",
		"kill":       "and for 10ms none has come",
	} {
		var stdout, stderr bytes.Buffer
		args := []string{
			"floor", "--events", "100", "--warm", "0", "--mode", mode, "--delay", "500ms", "--patience", "10ms",
		}
		if mode == "duplicates" {
			args = append(args, "--patience", "1m")
		}
		if code := run(t.Context(), args, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s%s", mode, code, &stdout, &stderr)
		}
	}
}

// TestAnOlderGatehouseIsComparedInTheSameRun has the present program as the older one: every event is answered by both,
// those that need an approval too.
func TestAnOlderGatehouseIsComparedInTheSameRun(t *testing.T) {
	program := gatehouse(t)
	few := []string{
		"compare", "--before", program, "--gatehouse", program, "--events", "120", "--warm", "8", "--threads", "10",
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append(few, "--rounds", "1"), &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{"gatehouse/before", "of 1\n", "replies/s ", "CPU time per reply "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &stdout)
		}
	}
	for _, platform := range [][]string{nil, {"--discord", "--events", "48"}} {
		stdout.Reset()
		args := slices.Concat(few, []string{"--json", "--rounds", "2"}, platform)
		if code := run(t.Context(), args, &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d: %s", platform, code, &stderr)
		}
		var printed struct{ Paired map[string]pairs }
		if err := json.Unmarshal(stdout.Bytes(), &printed); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"replies_per_s", "cpu_ms_per_event"} {
			if p := printed.Paired[key]; len(p.Values) != 2 || p.Least <= 0 || p.Median < p.Least || p.Most < p.Median {
				t.Errorf("%v: %s: %+v", platform, key, p)
			}
		}
		for name, figures := range figuresIn(t, &stdout)[0] {
			// A card is posted, pressed and drawn again besides the reply.
			if figures["lost"] != 0 || figures["doubled"] != 0 || figures["calls_per_event"] < 1.2 {
				t.Errorf("%v: %s: %v", platform, name, figures)
			}
		}
	}
}

func TestAChangeThatCostsTooMuchIsReported(t *testing.T) {
	rows := func(replies, cpu float64) []report.Row {
		all := make([]report.Row, 2)
		for range 3 {
			all[0].Add(map[string]float64{"replies_per_s": 100, "cpu_ms_per_event": 2})
			all[1].Add(map[string]float64{"replies_per_s": 100 * replies, "cpu_ms_per_event": 2 * cpu})
		}
		return all
	}
	for _, c := range []struct {
		replies, cpu float64
		want         []string
	}{
		{1.2, 0.8, nil},
		{0.96, 1.04, nil},
		{0.94, 1, []string{"replies/s"}},
		{1, 1.06, []string{"CPU time"}},
		{0.5, 2, []string{"replies/s", "CPU time"}},
	} {
		err := judge(paired(rows(c.replies, c.cpu)))
		if (err != nil) != (len(c.want) > 0) {
			t.Errorf("%v: %v", c, err)
		}
		for _, word := range c.want {
			if err != nil && !strings.Contains(err.Error(), word) {
				t.Errorf("%v: %v", c, err)
			}
		}
	}
}

func TestWrongFlagsAreExplained(t *testing.T) {
	for _, args := range [][]string{
		{"slack", "--mode", "loud"}, {"slack", "--events", "0"}, {"slack", "--warm", "-1"},
		{"slack", "--replicas", "2"}, {"slack", "more"},
		{"slack", "--rate", "1", "--rates", "1,2"}, {"slack", "--rates", "fast"}, {"peer"},
		{"peer", "--command", "true"},
		{"peer", "--command", "true", "--url", "ftp://127.0.0.1"}, {"floor", "--socket"},
		{"compare", "--check"}, {"compare", "--discord"}, {"compare", "--before", "no such program"},
		{"compare", "--before", os.Args[0], "--command", "true"},
		{"compare", "--before", os.Args[0], "--mode", "kill"}, {"slack", "--before", os.Args[0]},
		{"compare", "--before", os.Args[0], "--rounds", "0"},
		nil, {"speed"}, {"hrf", "hrf"}, {"typestate", "--runs", "0"}, {"store", "--sessions", "1,some"},
		{"growth", "--idle", "0"}, {"many", "--turns", "0"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

func TestABotThatEndsIsReportedWithWhatItPrinted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"peer", "--command", "echo its config is missing; exit 3", "--url", "http://127.0.0.1:PORT/"}
	if code := run(t.Context(), args, &stdout, &stderr); code != 1 ||
		!strings.Contains(stderr.String(), "its config is missing") {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}
