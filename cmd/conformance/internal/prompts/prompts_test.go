package prompts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/cmd/conformance/internal/fixture"
)

// run runs all cases of a file.
func run(t *testing.T, path string) (faults []string) {
	t.Helper()
	root, err := fixture.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if !root.Has("cases") {
		return Run(t.Context(), root, root)
	}
	for _, doc := range root.Peek("cases").Items() {
		faults = append(faults, Run(t.Context(), root, doc)...)
	}
	return append(faults, fixture.Beside(root)...)
}

func TestGoodFixturesPass(t *testing.T) {
	for _, fault := range run(t, "testdata/good/own.yaml") {
		t.Error(fault)
	}
}

// TestBadFixturesFail: each change of a good case is found.
func TestBadFixturesFail(t *testing.T) {
	const good = `
backends: [{name: main, prompts: [{name: hi, label: production, version: v1,
 template: "Hi {{ who }}", sampling: {seed: 1}}]}]
manager: {backends: [main]}
calls:
  - {target: manager, operation: fetch, name: hi, capture_as: p, expected: {prompt: {version: v1, sampling: {seed: 1}}}}
  - {target: manager, operation: render, fetched_prompt_ref: p, variables: {who: Ann}, capture_as: ann}
  - {target: manager, operation: get, name: hi, variables: {who: Bob},
   capture_as: bob, expected: {prompt_result: {messages: [{content: Hi Bob}]}}}
  - {target: manager, operation: get, name: hi, expected: {raises: {category: prompt_render_error,
   carries: {name: hi, description_mentions: who}}}}
expected:
  p: {label: production, template: "Hi {{ who }}"}
  ann: {messages: [{role: user, content: Hi Ann}], rendered_hash_present: true, rendered_hash_non_empty_string: true}
  result_equivalence: {of: [ann, bob], fields_must_match: [name, template_hash], fields_may_differ: [messages]}
  rendered_hash_equal: [[ann, ann]]
  rendered_hash_different: [[ann, bob]]
  backend_call_counts: {main: 3}
`
	file := filepath.Join(t.TempDir(), "x.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(good)
	if faults := run(t, file); len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, c := range []struct{ old, new, want string }{
		{"{prompt: {version: v1,", "{prompt: {version: v2,", `calls.0.expected.prompt.version: it is "v1", not "v2"`},
		{"{prompt: {version: v1, sampling: {seed: 1}", "{prompt: {sampling: {seed: 2}", "sampling: seed is 1, not 2"},
		{"{prompt: {version: v1, sampling: {seed: 1}", "{prompt: {sampling: {}", "sampling: seed is unexpected: 1"},
		{"{prompt: {version: v1, sampling: {seed: 1}", "{prompt: {sampling: null", "it is {\"seed\":1}, not null"},
		{"{prompt: {version: v1", "{prompt: {colour: v1", "fixture_directive_unknown: calls.0.expected.prompt.colour"},
		{"{prompt: {version: v1", "{prompt_result: {version: v1", "the call returned no result"},
		{"content: Hi Bob", "content: Hi Ann", "content is \"Hi Bob\", not \"Hi Ann\""},
		{"[{content: Hi Bob}]", "[]", "it has 1 items, not 0"},
		{"[{content: Hi Bob}]", "[{content: Hi Bob, colour: red}]", "colour is missing"},
		{
			"category: prompt_render_error", "category: prompt_not_found",
			`it is "prompt_render_error", not "prompt_not_found"`,
		},
		{"carries: {name: hi", "carries: {name: ho", `it is "hi", not "ho"`},
		{
			"carries: {name: hi", "carries: {segment: 1",
			"fixture_directive_unknown: calls.3.expected.raises.carries.segment",
		},
		{"description_mentions: who", "description_mentions: when", `does not mention "when"`},
		{
			"get, name: hi, expected: {raises", "get, name: hi, variables: {who: x}, expected: {raises",
			"the call did not fail",
		},
		{"operation: get, name: hi, expected: {raises: {category: prompt_render_error,\n" +
			"   carries: {name: hi, description_mentions: who}}}", "operation: get, name: hi",
			"calls.3: the call failed: prompt_render_error"},
		{"  p: {label: production", "  p: {label: staging", `expected.p.label: it is "production", not "staging"`},
		{"  p: {label", "  q: {label", "fixture_directive_unknown: expected.q"},
		{"rendered_hash_present: true", "rendered_hash_present: false", "rendered_hash is \"sha256:"},
		{"rendered_hash_non_empty_string: true", "messages_non_empty_string: true", "messages is ["},
		{"fields_must_match: [name", "fields_must_match: [messages", "messages of ann and bob differ"},
		{"fields_must_match: [name", "fields_must_match: [colour", `there is no field "colour"`},
		{"fields_may_differ: [messages]", "fields_may_differ: [colour]", `there is no field "colour"`},
		{"equal: [[ann, ann]]", "equal: [[ann, bob]]", "rendered_hash of ann is"},
		{"equal: [[ann, ann]]", "equal: [[ann, cid]]", `nothing was captured as "cid"`},
		{"equal: [[ann, ann]]", "equal: [[ann]]", "it takes two names or more"},
		{"rendered_hash_equal", "colour_equal", "fixture_directive_unknown: expected.colour_equal"},
		{"different: [[ann, bob]]", "different: [[ann, ann]]", "rendered_hash of ann is"},
		{"{main: 3}", "{main: 2}", "it was called 3 times"},
		{"{main: 3}", "{other: 0}", `there is no backend "other"`},
		{"manager: {backends: [main]}", "manager: {backends: [other]}", `there is no backend "other"`},
		{
			"manager: {backends: [main]}", "manager: {backends: [main], label_resolver_ref: x}",
			`there is no resolver "x"`,
		},
		{
			"manager: {backends: [main]}", "manager: {backends: [main], cache: 1}",
			"fixture_directive_unknown: manager.cache",
		},
		{
			"target: manager, operation: fetch", "target: other_manager, operation: fetch",
			`there is no manager "other_manager"`,
		},
		{"target: manager, operation: fetch", "target: {backend: main}, operation: get", "a backend can only fetch"},
		{"operation: fetch", "operation: store", `unknown operation "store"`},
		{"fetched_prompt_ref: p", "fetched_prompt_ref: q", `no prompt was captured as "q"`},
		{"capture_as: bob", "capture_as: ann", `"ann" was captured before`},
		{
			"name: hi, capture_as: p", "name: hi, levitate: true, capture_as: p",
			"fixture_directive_unknown: calls.0.levitate",
		},
		{
			`template: "Hi {{ who }}", sampling: {seed: 1}`, `template: "Hi {{ who }}", sampling: {seed: 1, colour: 1}`,
			"fixture_directive_unknown: backends.0.prompts.0.sampling.colour",
		},
		{
			`template: "Hi {{ who }}", sampling`,
			`chat_template: [{role: user, content: [{type: text, text: x, colour: 1}]}], sampling`,
			"prompts.0.chat_template.0.content.0.colour",
		},
		{
			`template: "Hi {{ who }}", sampling`, `template: x, chat_template: [], sampling`,
			"either template or chat_template",
		},
		{
			"variables: {who: Ann}", "variables: {who: Ann}, placeholders: {h: [{role: user, content: x, colour: 1}]}",
			"it has more than a message: colour",
		},
		{"backends: [{name: main,", "backends: [{name: main}, {name: main,", "a backend needs a name of its own"},
		{"calls:", "none:", "there are no calls"},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%q is not in the fixture", c.old)
		}
		write(strings.Replace(good, c.old, c.new, 1))
		if got := strings.Join(run(t, file), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s\nwant %s", c.new, got, c.want)
		}
	}
	write("cases: [{calls: []}]\ncolour: 1\nbackends: [{name: a, colour: 1}]")
	if got := strings.Join(run(t, file), "\n"); !strings.Contains(got, "unknown: colour") ||
		!strings.Contains(got, "unknown: backends.0.colour") {
		t.Error(got)
	}
}
