package providers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/providers"
)

const own = "testdata/good/own.yaml"

// run runs all cases of a file.
func run(t *testing.T, path string) (faults []string) {
	t.Helper()
	root, err := fixture.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range root.Peek("cases").Items() {
		found, unchecked := providers.Run(t.Context(), root, doc)
		faults = append(append(faults, found...), unchecked...)
	}
	return append(faults, fixture.Beside(root)...)
}

func TestGoodFixturesPass(t *testing.T) {
	for _, fault := range run(t, own) {
		t.Error(fault)
	}
}

// TestBadFixturesFail: each change of a good case is found.
func TestBadFixturesFail(t *testing.T) {
	good, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.yaml")
	for _, change := range [][2]string{
		{"message: {content: there}", "message: {content: here}"},
		{"message: {content: there}", "message: {contents: there}"},
		{"finish_reason: stop, usage: {prompt_tokens: null", "finish_reason: length, usage: {prompt_tokens: null"},
		{"usage: {prompt_tokens: null", "usage: {prompt_tokens: 0"},
		{"max_attempts: 3", "max_attempts: 2"},
		{"type: deterministic", "type: exponential"},
		{"attempt_index: 1,", "attempt_index: 2,"},
		{`"openarmature.llm.retry_reason": transient`, `"openarmature.llm.retry_reason": reask`},
		{"attributes_absent: [openarmature.llm.finish_reason]", "attributes_absent: [openarmature.llm.model]"},
		{"error_category: null", "error_category: provider_unavailable"},
		{"error_category: provider_unavailable", "error_category: null"},
		{"n_attempts_emit_n_llm_spans: true", "n_attempts_emit_n_llm_spans: false"},
		{"n_attempts_emit_n_llm_spans: true", "n_attempts_emit_spans: true"},
		{"retry_after_seconds: 30", "retry_after_seconds: 31"},
		{"retry_after: 30", "retry_after: 29"},
		{"retry_after: 30", "cause: 30"},
		{"llm_spans: [{attempt_index: 0, error_category: provider_rate_limit}]", "llm_spans: []"},
		{"raises: {category: provider_invalid_response}", "raises: {category: provider_unavailable}"},
		{"raises: {category: provider_invalid_response}", "success: true"},
		{"raises: {category: provider_invalid_response}", "response: {finish_reason: stop}"},
		{"expected: {raises: {category: provider_invalid_response}}", "expected: {}"},
		{"seed: 7, stop_sequences", "seed: 8, stop_sequences"},
		{"extras: {top_k: 3}", "extras: {top_k: 3, n: 1}"},
		{"extras: {top_k: 3}", "top_k: 3"},
		{"      top_k: 3\n", ""},
		{"messages: [{role: user, content: one}]", "messages: [{role: user, content: two}]"},
		{"temperature_absent: true", "temperature_absent: false"},
		{"seed_absent: false", "seed_absent: true"},
		{"seed_absent: false", "seed_present: true"},
		{"parsed: null", "parsed: {}"},
		{"provider_invalid_model", "provider_unavailable"},
		{"operation: ready", "operation: wait"},
		{"arguments: {zone: UTC}}]}, finish", "arguments: {zone: CET}}]}, finish"},
		{"required_keys: [content, usage]", "required_keys: [content, choices]"},
		{"content: [{type: text, text: noon}]}, usage", "content: [{type: text, text: night}]}, usage"},
		{"calls: [0, 1]", "calls: [0]"},
		{"calls: [0, 1]", "calls: [0, 2]"},
		{"mapping: anthropic", "mapping: gemini"},
		{"{max_tokens: 8}", "{max_tokens: 9}"},
		{"  - name: a_body", "  - title: a_body"},
		{"cases:", "beside: 1\ncases:"},
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
