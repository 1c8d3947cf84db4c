package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/invariant"
	"gatehouse/cmd/conformance/internal/providers"
	"gatehouse/core/llm"
)

// heard changes the typed events of a turn; what change leaves out is not heard.
func heard(change func(h evidence.Heard) []evidence.Heard) func(*evidence.Turn) {
	return func(t *evidence.Turn) {
		var out []evidence.Heard
		for _, h := range t.Heard {
			fields := map[string]any{}
			for k, v := range h.Fields {
				fields[k] = v
			}
			h.Fields = fields
			out = append(out, change(h)...)
		}
		t.Heard = out
	}
}

func setOn(kind, key string, value any) func(*evidence.Turn) {
	return heard(func(h evidence.Heard) []evidence.Heard {
		if h.Type == kind {
			h.Fields[key] = value
		}
		return []evidence.Heard{h}
	})
}

func twice(kind string) func(*evidence.Turn) {
	return heard(func(h evidence.Heard) []evidence.Heard {
		if h.Type == kind {
			return []evidence.Heard{h, h}
		}
		return []evidence.Heard{h}
	})
}

func also(kind, added string) func(*evidence.Turn) {
	return heard(func(h evidence.Heard) []evidence.Heard {
		if h.Type != kind {
			return []evidence.Heard{h}
		}
		other := h
		other.Type = added
		return []evidence.Heard{h, other}
	})
}

func reversed(t *evidence.Turn) {
	t.Heard = slices.Clone(t.Heard)
	slices.Reverse(t.Heard)
}

// wrongHeard are, for each invariant of what observers hear of a model, ways in which a run can be wrong that it must
// find.
var wrongHeard = map[string][]func(*evidence.Turn){
	"n_content_chunks_emit_n_token_events": {
		twice(evidence.LlmToken), setOn(evidence.LlmToken, "delta", "x"),
	},
	"chunk_index_monotonic_from_zero": {
		reversed, setOn(evidence.LlmToken, "chunk_index", 0), setOn(evidence.LlmToken, "chunk_index", 1),
	},
	"ordered_deltas_concatenate_to_assembled_content": {
		reversed, setOn(evidence.LlmCompletion, "output_content", "Hell"),
	},
	"all_token_event_call_ids_match_terminal_completion_event": {
		setOn(evidence.LlmToken, "call_id", "x"), setOn(evidence.LlmCompletion, "call_id", ""),
	},
	"exactly_one_terminal_llm_completion_event": {
		reversed, twice(evidence.LlmCompletion), also(evidence.LlmCompletion, evidence.LlmFailed),
	},
	"exactly_one_llm_completion_event": {
		twice(evidence.LlmCompletion), also(evidence.LlmCompletion, evidence.LlmFailed),
	},
	"exactly_one_terminal_llm_failed_event": {
		reversed, twice(evidence.LlmFailed), also(evidence.LlmFailed, evidence.LlmCompletion),
	},
	"zero_llm_completion_events_on_failed_stream": {also(evidence.LlmFailed, evidence.LlmCompletion)},
	"no_llm_token_failed_event_variant_exists":    {also(evidence.LlmToken, "LlmTokenFailedEvent")},
	"partial_token_events_fire_before_failure": {
		reversed, twice(evidence.LlmToken), setOn(evidence.LlmToken, "delta", "x"),
	},
	"zero_token_events_on_non_streamed_call":         {also(evidence.LlmCompletion, evidence.LlmToken)},
	"tool_call_argument_deltas_emit_no_token_events": {twice(evidence.LlmToken)},
	"no_tool_call_kind_token_events":                 {setOn(evidence.LlmToken, "delta_kind", "tool_call")},
	"only_content_kind_token_events_emitted": {setOn(evidence.LlmToken,
		"delta_kind", string(llm.TokenReasoning))},
	"terminal_output_tool_calls_reassembled_complete_and_parsed": {
		setOn(evidence.LlmCompletion, "output_tool_calls", []any{}),
		setOn(evidence.LlmCompletion,
			"output_tool_calls", []any{map[string]any{"id": "c1", "name": "f", "arguments": nil}}),
	},
	"reassembled_tool_calls_identical_to_non_streamed": {
		setOn(evidence.LlmCompletion,
			"output_tool_calls", []any{map[string]any{"id": "c1", "name": "f", "arguments": map[string]any{"a": 2}}}),
	},
}

// TestInvariantsOfModelsFailByName: each holds in the own cases that state it, and in each of them finds everything
// that is wrong.
func TestInvariantsOfModelsFailByName(t *testing.T) {
	root, err := fixture.Load("testdata/good/observability/own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, doc := range root.Get("cases").Items() {
		r := runCase(t.Context(), "observability", doc, false)
		if len(r.Faults) > 0 {
			t.Fatal(r.Faults)
		}
		doc.Peek("expected").Peek("invariants").All(func(name string, v *fixture.Node) {
			holds, known := invariant.Named(name)
			if !known || holds(r.Case, r.Turns, v) != nil || len(wrongHeard[name]) == 0 {
				t.Errorf("%s does not hold, or nothing that is wrong is known of it", name)
				return
			}
			for i, wrong := range wrongHeard[name] {
				changed := *r.Turns[0]
				wrong(&changed)
				if len(changed.Heard) > 1 && holds(r.Case, []*evidence.Turn{&changed}, v) == nil {
					t.Errorf("%s: %s holds where wrong thing %d happened", doc.Peek("name").Name(), name, i)
				}
			}
			tried[name] = true
		})
	}
	for name := range wrongHeard {
		if !tried[name] {
			t.Errorf("no own case states %s", name)
		}
	}
}

// TestBadModelFixturesFail: each change of a good case is found.
func TestBadModelFixturesFail(t *testing.T) {
	good, err := os.ReadFile("testdata/good/observability/own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "observability")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.yaml")
	for _, change := range [][3]string{
		{"delta: {content: lo}", "delta: {content: la}", "final_state"},
		{
			"stream: true, messages: [{role: user, content: hi}], stores",
			"messages: [{role: user, content: hi}], stores", "failed",
		},
		{
			"{chunk_index: 1, delta: lo,", "{chunk_index: 2, delta: lo,",
			"contains_events_in_order.events.1: chunk_index",
		},
		{
			"delta: lo, attempt_index: 0}", "delta: lo, attempt: 0}",
			"contains_events_in_order.events.1: attempt is missing",
		},
		{", {chunk_index: 1, delta: lo, attempt_index: 0}]", "]", "there are 2 events, not 1"},
		{"fields: {output_content: Hello", "fields: {output_content: Hell", "no such event: output_content"},
		{"count: 0}\n      invariants", "count: 1}\n      invariants", "event_count.count"},
		{"LlmTokenFailedEvent, count", "LlmTokensEvent, count", "must be one of"},
		{"      observers:\n        collector:", "      observers:\n        other:", `no observer "other"`},
		{"kind: typed_event_collector", "kind: recorder", "must be one of"},
		{"LlmCompletionEvent, count: 0", "LlmCompletionEvent, count: 1", "event_counts.1.count"},
		{
			"{error: {status: 503}}\n    typed", "{choices: [{index: 0, delta: {}, finish_reason: stop}]}\n    typed",
			"did not fail",
		},
		{"raised_from: ask", "raised_from: asked", "raised_from"},
		{"category: provider_unavailable, raised", "category: provider_rate_limit, raised", "category"},
		{"seconds: 0}}}", "seconds: 0}}, levitates: true}", "levitates"},
	} {
		text := strings.Replace(string(good), change[0], change[1], 1)
		if text == string(good) {
			t.Errorf("there is no %q", change[0])
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, _ := conformance(t, "--strict", file); code == 0 || !strings.Contains(out, change[2]) {
			t.Errorf("%q in place of %q:\n%s", change[1], change[0], out)
		}
	}
}

// TestPublishedWordsAreChecked: every invariant that the fixtures' list of words names has a check of exactly that
// name.
func TestPublishedWordsAreChecked(t *testing.T) {
	root := fixtures()
	if root == "" {
		t.Skip("SKIPPED: no fixtures were read. Set GATEHOUSE_FIXTURES.")
	}
	f, err := os.Open(filepath.Join(root, "WORDS.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	item, n := regexp.MustCompile("^- `([a-z0-9_]+)`$"), 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name := item.FindStringSubmatch(lines.Text())
		if name == nil {
			continue
		}
		n++
		if _, known := invariant.Named(name[1]); !known && !providers.Checks(name[1]) {
			t.Errorf("nothing checks %s", name[1])
		}
	}
	if n < 40 {
		t.Errorf("%d invariants are listed", n)
	}
}
