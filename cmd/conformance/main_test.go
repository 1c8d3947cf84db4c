package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/cmd/conformance/internal/fixture"
)

// conformance runs the program.
func conformance(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestGoodFixturesPass(t *testing.T) {
	code, out, _ := conformance(t, "--strict", "testdata/good")
	if code != 0 || strings.Contains(out, "unchecked") || !strings.HasSuffix(out, "66 passed, 0 failed\n") {
		t.Errorf("code %d:\n%s", code, out)
	}
}

// TestBadFixturesFail: the runner finds each of these faults and reports it.
func TestBadFixturesFail(t *testing.T) {
	cases := map[string]string{
		"wrong_state":               "expected.final_state: n is 1, not 2",
		"partial_state":             "expected.final_state: m is unexpected: 0",
		"unknown_directive":         "fixture_directive_unknown: nodes.a.levitate",
		"unconsumed_key":            "fixture_directive_unknown: expected.phase_of_moon",
		"deep_unconsumed_key":       "fixture_directive_unknown: cases.0.chat_turns.0.expected.final_state.words_count",
		"unexpected_failure":        "failed: node_exception",
		"missing_failure":           "expected_error: the turn did not fail: it is completed",
		"wrong_category":            `expected_error.category: it is "provider_unavailable", not "node_exception"`,
		"wrong_compile_error":       `expected_compile_error: compiling returns "", not "dangling_edge"`,
		"malformed":                 `fixture_schema_invalid: state.fields.n: unknown type "colour"`,
		"missing_primitive":         "harness_primitive_missing",
		"broken_invariant":          "session_store_completely_untouched: one: the store was called 2 times",
		"false_invariant":           "session_store_completely_untouched: an invariant can't be expected not to hold",
		"silent_listener":           "the listener was called 0 times, not once",
		"wrong_events":              `expected.observer_events.o.1.phase: it is "completed", not "suspended"`,
		"no_subgraph":               `nodes.a.fan_out.subgraph: there is no subgraph "leaf"`,
		"wrong_span":                `span_tree.0.children.0.name: it is "a", not "b"`,
		"missing_log":               "log_records.0.attributes_absent.0: it is there",
		"wrong_markers":             "expected.middleware_log_captured: it has 2 items, not 1",
		"wrong_inner_state":         "expected.inner_pre_state: x is 1, not 2",
		"wrong_indices":             "inner_fan_out_indices_seen: invocation 1: it is [0], not [0,1]",
		"unknown_observer":          `expected.observer_events.p: there is no observer "p"`,
		"unknown_observer_in_order": `expected.delivery_order.0: there is no observer "p"`,
		"unknown_tracer":            `expected.otel_spans.o: no observer "o" captures spans`,
		"unknown_target":            `observers.0.target: there is no subgraph "leaf"`,
		"null_of_no_field":          "expected.final_state: m is missing",
		"propagated_error":          "expected.no_propagated_error: the turn is errored",
		"two_names_of_one_id":       `not "<invocation_id_B>"`,
		"another_id":                `not "‹invocation_id_A›"`,
		"misspelt_node":             `no_events_for_node: one: the graph has no node "bb"`,
		"not_yaml":                  "fixture_schema_invalid",
	}
	for name, reason := range cases {
		t.Run(name, func(t *testing.T) {
			code, out, _ := conformance(t, filepath.Join("testdata/bad", name+".yaml"))
			if code != 1 || !strings.HasPrefix(out, "FAIL ") || !strings.Contains(out, reason) ||
				!strings.Contains(out, "0 passed, 1 failed") {
				t.Errorf("code %d, want %q:\n%s", code, reason, out)
			}
		})
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) != len(cases)+1 { // and unknown_invariant, below
		t.Errorf("%d bad fixtures, %d expectations: %v", len(files), len(cases), err)
	}
}

// TestBrokenFiles: a broken file is a failure of that file and not of the program.
func TestBrokenFiles(t *testing.T) {
	for text, reason := range map[string]string{
		"":                           "must be one mapping",
		"- a":                        "must be one mapping",
		"a: 1\n---\nb: 2":            "must be one mapping",
		"a: {b: 1, b: 2}":            `mapping key "b" already defined`,
		"cases: 7":                   "cases: must be a list",
		"cases:":                     "cases: must be a list",
		"cases: []":                  "there are no cases",
		"cases: [7]":                 "a case must be a mapping",
		"cases: [{name: {a: b}}]":    "must be a text",
		"backends: [], entry: a":     "fixture_schema_invalid",
		"mock_provider: {}":          "\"call\" is missing",
		"cases: [{backends: [one]}]": "cases.0.backends.0: \"name\" is missing",
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, _ := conformance(t, file)
		if code != 1 || !strings.HasPrefix(out, "FAIL ") || !strings.Contains(out, reason) ||
			!strings.HasSuffix(out, "0 passed, 1 failed\n") {
			t.Errorf("%q: code %d, want %q:\n%s", text, code, reason, out)
		}
	}
}

func TestFolderLink(t *testing.T) {
	good, err := filepath.Abs("testdata/good")
	link := filepath.Join(t.TempDir(), "suite")
	if err == nil {
		err = os.Symlink(good, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := conformance(t, link); code != 0 {
		t.Errorf("code %d: %s%s", code, out, stderr)
	}
}

func TestUnknownInvariantIsCounted(t *testing.T) {
	file := "testdata/bad/unknown_invariant.yaml"
	code, out, _ := conformance(t, file)
	if code != 0 ||
		!strings.Contains(out, `unchecked graph-engine/unknown_invariant/one: invariant "the_sky_was_blue"`) ||
		!strings.HasSuffix(out, "1 passed, 0 failed, 1 unchecked\n") {
		t.Errorf("code %d:\n%s", code, out)
	}
	code, out, _ = conformance(t, "--strict", file)
	if code != 1 || !strings.HasSuffix(out, "0 passed, 1 failed, 1 unchecked\n") {
		t.Errorf("strict: code %d:\n%s", code, out)
	}
}

// TestProduct: chats, and all other cases with a counterpart, pass through dispatch, approvals and SQLite too; the rest
// is listed.
func TestProduct(t *testing.T) {
	code, out, _ := conformance(t, "--strict", "--product", "testdata/good")
	for _, line := range []string{
		"ok harness-chat/own/a_signal_resumes_and_the_listener_is_called_once\n",
		"ok harness-chat/own/an_end_that_is_not_saved\n",
		"ok harness-chat/own/a_pause_that_is_not_saved\n",
		"ok suspension/nested/one_instance_after_another\n",
		"no counterpart harness/own/a_stateless_harness_can_pause: every turn has a session\n",
		"no counterpart harness/own/buckets: cases.2.transmissions.0.expected.dispatch_path: events have kinds and " +
			"no intents\n",
		"16 passed, 0 failed, 50 without a counterpart\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("there is no line %q", line)
		}
	}
	if code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
}

// TestBadFixturesFailInTheProduct: a wrong chat fails through the product too.
func TestBadFixturesFailInTheProduct(t *testing.T) {
	for _, name := range []string{"silent_listener", "two_names_of_one_id", "another_id", "deep_unconsumed_key"} {
		if code, out, _ := conformance(t, "--product", filepath.Join("testdata/bad", name+".yaml")); code != 1 ||
			!strings.HasPrefix(out, "FAIL ") {
			t.Errorf("%s: code %d:\n%s", name, code, out)
		}
	}
}

func TestJSON(t *testing.T) {
	code, out, _ := conformance(t, "--json", "testdata/bad/wrong_state.yaml", "testdata/good/graph-engine")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var first struct {
		Capability, File, Case string
		OK                     bool
		Faults                 []string
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.OK || len(first.Faults) != 1 ||
		first.File != "wrong_state" {
		t.Errorf("%v: %s", err, lines[0])
	}
	var counts map[string]int
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &counts); err != nil || counts["failed"] != 1 ||
		counts["passed"] != 21 || code != 1 {
		t.Errorf("code %d, %v: %s", code, err, lines[len(lines)-1])
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"--dance"}, {"testdata/ghost"}, {t.TempDir()}} {
		if code, _, stderr := conformance(t, args...); code != 2 || stderr == "" {
			t.Errorf("%v: code %d, %q", args, code, stderr)
		}
	}
}

// TestCapabilities: the capability is the nearest folder of a known name, or else what the keys of the file imply.
func TestCapabilities(t *testing.T) {
	for text, want := range map[string]string{
		"chat_turns: []": "harness-chat", "transmissions: []": "harness", "session_store: in_memory": "sessions",
		"nodes: {a: {suspend_with_descriptor: {}}}": "suspension", "nodes: {}": "graph-engine",
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		root, err := fixture.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := capabilityOf(file, root); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if got := capabilityOf("x/harness/y/z.yaml", root); got != "harness" {
			t.Errorf("in a folder: %s", got)
		}
	}
}
