package providers_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const streams = "testdata/good/streams.yaml"

// ownCases are the own cases of streams, and their invariants' names.
func ownCases(t *testing.T) (all map[string][]map[string]any, names []string) {
	t.Helper()
	text, err := os.ReadFile(streams)
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, one := range all["cases"] {
		for name := range one["expected"].(map[string]any)["invariants"].(map[string]any) {
			known[name] = true
		}
	}
	return all, slices.Sorted(maps.Keys(known))
}

// TestEachInvariantFailsWhereItDoesNotHold: every invariant of the own cases of streams holds in its cases, and fails
// by its name in another one.
func TestEachInvariantFailsWhereItDoesNotHold(t *testing.T) {
	for _, fault := range run(t, streams) {
		t.Error(fault)
	}
	_, names := ownCases(t)
	if len(names) < 50 {
		t.Errorf("there are only %d invariants", len(names))
	}
	file := filepath.Join(t.TempDir(), "x.yaml")
	for _, name := range names {
		all, _ := ownCases(t)
		for _, one := range all["cases"] {
			one["expected"].(map[string]any)["invariants"] = map[string]bool{name: true}
		}
		text, err := yaml.Marshal(all)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if faults := run(t, file); !slices.ContainsFunc(faults, func(fault string) bool {
			return strings.Contains(fault, "invariants."+name+": ")
		}) {
			t.Errorf("%s fails in no case: %q", name, faults)
		}
	}
}

// TestBadStreamsFail: each change of a good case is found.
func TestBadStreamsFail(t *testing.T) {
	good, err := os.ReadFile(streams)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.yaml")
	for _, change := range [][2]string{
		{
			"stream: true, messages: [{role: user, content: hi}]}\n    expected_wire_request",
			"messages: [{role: user, content: hi}]}\n    expected_wire_request",
		},
		{"delta: {content: lo}", "delta: {content: la}"},
		{"delta: {reasoning_content: think.}", "delta: {content: think.}"},
		{"finish_reason: stop}]}\n            - {id: a", "finish_reason: length}]}\n            - {id: a"},
		{"usage: {prompt_tokens: x, completion_tokens: 2", "usage: {prompt_tokens: 1, completion_tokens: 2"},
		{"required_keys: [id, model, choices, usage]", "required_keys: [id, model, choices, usages]"},
		{"no_token_events_emitted: false", "no_token_events_emitted: true"},
		{"no_request_issued: false", "no_request_issued: true"},
		{"no_token_events_emitted: true", "no_token_events_emitted: false"},
		{"expected_wire_request_absent_keys: [seed", "expected_wire_request_absent_keys: [model"},
		{"stream_options.other", "stream_options.include_usage"},
		{"message: {contains: [does not support, streaming]}", "message: does not sing"},
		{"contains: [does not support, streaming]", "contains: [does not support, singing]"},
		{"contains: [does not support, streaming]", "is: streaming"},
		{"      no_request_issued: true", "      no_request_issued: false"},
		{"mapping: streaming_unsupported_stub", "mapping: openai"},
		{"mapping: streaming_unsupported_stub", "mapping: streaming_stub"},
		{`arguments: ' 1}'`, `arguments: ' 2}'`},
	} {
		text := strings.Replace(string(good), change[0], change[1], 1)
		if text == string(good) {
			t.Errorf("there is no %q", change[0])
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if faults := run(t, file); len(faults) == 0 {
			t.Errorf("%q passes in place of %q", change[1], change[0])
		}
	}
}
