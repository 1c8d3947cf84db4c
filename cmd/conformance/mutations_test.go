package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/cmd/conformance/internal/invariant"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// invariantsOf returns the mappings of invariants of a document.
func invariantsOf(n *yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 &&
			(c.Value == "invariants" || c.Value == "observer_event_invariants") {
			out = append(out, n.Content[i+1])
		}
		out = append(out, invariantsOf(c)...)
	}
	return out
}

// fixtureFiles are the own fixtures that pass, and those of GATEHOUSE_FIXTURES.
func fixtureFiles(t *testing.T) []string {
	t.Helper()
	roots := []string{"testdata/good"}
	if root := fixtures(); root != "" {
		for _, suite := range suites {
			roots = append(roots, filepath.Join(root, suite))
		}
	}
	files, err := collect(roots)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rerun runs a changed fixture under --strict, and reports whether it passed.
func rerun(t *testing.T, file string, doc *yaml.Node) (passed bool, output string) {
	t.Helper()
	text, err := yaml.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), filepath.Base(filepath.Dir(file)))
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = os.WriteFile(filepath.Join(dir, "changed.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, output, _ := conformance(t, "--strict", dir)
	return code == 0, output
}

// misspelt are names that differ from a published one in a word: each word left out, doubled, or one letter shorter,
// and "not" before each word.
func misspelt(name string) []string {
	words := strings.Split(name, "_")
	var out []string
	for i, w := range words {
		with := func(in ...string) {
			out = append(out, strings.Join(slices.Concat(words[:i], in, words[i+1:]), "_"))
		}
		with()
		with(w, w)
		with("not", w)
		with("x" + w)
		if len(w) > 1 {
			with(w[:len(w)-1])
		}
		for was, is := range opposites {
			if was == w {
				with(is)
			}
		}
	}
	return out
}

// opposites make a name claim something else.
var opposites = map[string]string{
	"new": "existing", "first": "second", "second": "first", "2": "1", "1": "2", "system": "user",
	"terminating": "transient", "absent": "present",
	"before": "after", "after": "before", "suspended": "completed", "completed": "suspended",
	"correctable": "retryable", "projected": "scratch",
	"skipped": "runs", "inner": "outer", "tail": "head", "single": "double", "carries": "lacks", "untouched": "touched",
	"uniform": "mixed",
	"fan":     "branch", "signal": "new", "stateless": "sessioned", "0": "1", "3": "4", "7": "8", "b": "a",
	"unique": "equal", "within": "after",
}

// TestNamesMatchExactly: a name that differs from a published one in a word is another published name, or none.
func TestNamesMatchExactly(t *testing.T) {
	names := invariant.Names()
	for _, name := range names {
		for _, changed := range misspelt(name) {
			if _, known := invariant.Named(changed); known && !slices.Contains(names, changed) {
				t.Errorf("%s is accepted as %s", changed, name)
			}
		}
		if _, known := invariant.Named(strings.ToUpper(name)); known {
			t.Errorf("%s is known in upper case", name)
		}
	}
}

// changedValues are values that an invariant with this value does not have.
func changedValues(v *yaml.Node) []*yaml.Node {
	scalar := func(tag, value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value} }
	switch {
	case v.Kind == yaml.SequenceNode:
		longer, shorter := *v, *v
		longer.Content = append(slices.Clone(v.Content), scalar("!!int", "99"))
		shorter.Content = v.Content[:len(v.Content)-1]
		return []*yaml.Node{&longer, &shorter}
	case v.Tag == "!!bool":
		return []*yaml.Node{scalar("!!bool", "false"), scalar("!!null", "null"), scalar("!!str", "true")}
	case v.Tag == "!!int":
		return []*yaml.Node{scalar("!!int", v.Value+"1"), scalar("!!int", "0")}
	}
	return []*yaml.Node{scalar("!!str", v.Value+"x"), scalar("!!str", "")}
}

// TestNoChangedInvariantPasses changes each invariant of each fixture, its name and its value: no fixture passes then.
// Unless it is wide, it changes a name or a value in one way, and the next one in the next way.
func TestNoChangedInvariantPasses(t *testing.T) {
	wide, n := os.Getenv("GATEHOUSE_TEST_WIDE") != "", 0
	for _, file := range fixtureFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for _, m := range invariantsOf(&doc) {
			for i := 0; i+1 < len(m.Content); i += 2 {
				key, value := m.Content[i], m.Content[i+1]
				name := key.Value
				values := changedValues(value)
				n++
				if at := n % (len(values) + 1); wide || at == len(values) {
					key.Value += "s"
					if passed, out := rerun(t, file, &doc); passed {
						t.Errorf("%s: %s passes:\n%s", file, key.Value, out)
					}
					key.Value = name
				}
				if at := n % (len(values) + 1); !wide {
					values = values[at:min(at+1, len(values))]
				}
				for _, changed := range values {
					m.Content[i+1] = changed
					if passed, out := rerun(t, file, &doc); passed && name != "error_category_not" {
						t.Errorf("%s: %s: %q passes:\n%s", file, name, changed.Value, out)
					}
				}
				m.Content[i+1] = value
			}
		}
	}
}

// wrongEvidence are ways in which a run can be wrong.
var wrongEvidence = map[string]func(c *evidence.Case, t *evidence.Turn){
	"no calls":         func(_ *evidence.Case, t *evidence.Turn) { t.Entries = nil },
	"every call twice": func(_ *evidence.Case, t *evidence.Turn) { t.Entries = append(t.Entries, t.Entries...) },
	"calls in reverse order": func(_ *evidence.Case, t *evidence.Turn) {
		t.Entries = slices.Clone(t.Entries)
		slices.Reverse(t.Entries)
	},
	"a session was loaded": func(_ *evidence.Case, t *evidence.Turn) {
		t.Entries = append([]evidence.Entry{{What: evidence.Load}}, t.Entries...)
	},
	"a node ran": func(_ *evidence.Case, t *evidence.Turn) {
		t.Entries = append(t.Entries, evidence.Entry{What: evidence.NodeRan, Node: "x"})
	},
	"an extra save": func(_ *evidence.Case, t *evidence.Turn) {
		t.Entries = append(t.Entries, wrongSave)
	},
	"middleware wrote all markers": func(c *evidence.Case, t *evidence.Turn) {
		t.Entries = append(t.Entries, markersOf(c)...)
	},
	"nothing is stored":        func(_ *evidence.Case, t *evidence.Turn) { t.After = nil },
	"something was stored":     func(_ *evidence.Case, t *evidence.Turn) { t.Before = wrongSave.Record },
	"something else is stored": func(_ *evidence.Case, t *evidence.Turn) { t.After = wrongSave.Record },
	"the reply is stored":      func(_ *evidence.Case, t *evidence.Turn) { storeReply(t) },
	"other replies": func(_ *evidence.Case, t *evidence.Turn) {
		t.Replies = append(slices.Clone(t.Replies), core.Message{Role: core.User})
	},
	"nothing is pending": func(_ *evidence.Case, t *evidence.Turn) { t.Pending = nil },
	"no outcome":         func(_ *evidence.Case, t *evidence.Turn) { t.Outcome = nil },
	"another path":       func(_ *evidence.Case, t *evidence.Turn) { t.Path = "9" },
	"another bucket":     func(_ *evidence.Case, t *evidence.Turn) { t.Bucket = "x" },
	"another category":   func(_ *evidence.Case, t *evidence.Turn) { t.Category = core.NodeException },
	"another place":      func(_ *evidence.Case, t *evidence.Turn) { t.Place = []string{"x", "y", "z"} },
	"another state": func(_ *evidence.Case, t *evidence.Turn) {
		t.State, t.StartState = map[string]any{"x": 1}, map[string]any{"x": 1}
	},
	"it completed":        func(_ *evidence.Case, t *evidence.Turn) { t.Status = graph.Completed },
	"it failed":           func(_ *evidence.Case, t *evidence.Turn) { t.Status = graph.Errored },
	"another session":     func(_ *evidence.Case, t *evidence.Turn) { t.Session = "x" },
	"a session was named": func(_ *evidence.Case, t *evidence.Turn) { t.Given = "x" },
	"no reply":            func(_ *evidence.Case, t *evidence.Turn) { t.Reply = nil },
	"no subscription":     func(_ *evidence.Case, t *evidence.Turn) { t.Subscribed = 0 },
	"no paused record":    func(_ *evidence.Case, t *evidence.Turn) { t.PausedRecord = nil },
	"it took too long":    func(_ *evidence.Case, t *evidence.Turn) { t.Took, t.DrainTook = time.Hour, time.Hour },
	"no invocation":       func(_ *evidence.Case, t *evidence.Turn) { t.Invoked = nil },
	"two invocations":     func(_ *evidence.Case, t *evidence.Turn) { t.Invoked = append(t.Invoked, t.Invoked...) },
	"another descriptor":  func(_ *evidence.Case, t *evidence.Turn) { t.Descriptor = &core.Descriptor{SignalID: "x"} },
	"another payload": func(_ *evidence.Case, t *evidence.Turn) {
		t.Signal = &chat.Signal{Payload: map[string]json.RawMessage{"x": []byte("1")}}
	},
	"another answer": func(_ *evidence.Case, t *evidence.Turn) {
		t.Response = &harness.Response{Shape: harness.SuspendedAck}
	},
	"an answer about an error": func(_ *evidence.Case, t *evidence.Turn) {
		t.Response = &harness.Response{Body: map[string]any{"category": "x"}}
	},
	"no events":         func(_ *evidence.Case, t *evidence.Turn) { t.Events, t.Observed = nil, nil },
	"nothing was heard": func(_ *evidence.Case, t *evidence.Turn) { t.Heard = nil }, // see wrongHeard
	"events are missing": func(_ *evidence.Case, t *evidence.Turn) {
		t.Events, t.Observed = tail(t.Events), tail(t.Observed)
	},
	"every event twice": func(_ *evidence.Case, t *evidence.Turn) {
		t.Events, t.Observed = append(t.Events, t.Events...), append(t.Observed, t.Observed...)
	},
	"events of another kind": func(_ *evidence.Case, t *evidence.Turn) { t.Events, t.Observed = changeEvents(t) },
	"no spans":               func(_ *evidence.Case, t *evidence.Turn) { t.Spans = []*evidence.Span{{}} },
	"other log lines":        func(_ *evidence.Case, t *evidence.Turn) { t.Logs = []evidence.LogLine{{}} },
	"one migration too many": func(c *evidence.Case, _ *evidence.Turn) {
		c.Migrations = append(c.Migrations, "x->y")
	},
	"another harness": func(c *evidence.Case, _ *evidence.Turn) { c.Mode = "x" },
	"an unknown subgraph": func(c *evidence.Case, _ *evidence.Turn) {
		c.Inner = map[string][]string{"x": {"y"}}
	},
	"a projection of all fields": func(c *evidence.Case, _ *evidence.Turn) { c.Projected = c.Outer },
	"the drain reached no limit": func(_ *evidence.Case, t *evidence.Turn) { t.Drained.TimeoutReached = false },
}

var wrongSave = evidence.Entry{
	What: evidence.Save, Session: "x",
	Record: &evidence.Stored{State: map[string]any{"x": 1}, Messages: []core.Message{{Role: core.User}}},
}

func markersOf(c *evidence.Case) []evidence.Entry {
	var out []evidence.Entry
	for _, m := range c.Markers {
		out = append(out, evidence.Entry{What: evidence.Middleware, Node: m.After})
	}
	return out
}

func storeReply(t *evidence.Turn) {
	if t.Reply != nil {
		t.After = &evidence.Stored{Messages: []core.Message{*t.Reply}}
	}
}

func tail[T any](all []T) []T { return all[min(1, len(all)):] }

// changeEvents sets an index and another phase in every event.
func changeEvents(t *evidence.Turn) ([]graph.Event, []evidence.Observed) {
	index := 99
	change := func(e graph.Event) graph.Event {
		e.FanOutIndex, e.Phase = &index, graph.PhaseCompleted
		return e
	}
	var events []graph.Event
	var observed []evidence.Observed
	for _, e := range t.Events {
		events = append(events, change(e))
	}
	for _, h := range t.Observed {
		h.Event = change(h.Event)
		observed = append(observed, h)
	}
	return events, observed
}

// TestEveryInvariantCanFail: each invariant in a fixture fails if the evidence is wrong in one of these ways, so none
// holds for every run.
func TestEveryInvariantCanFail(t *testing.T) {
	failed := map[string]bool{}
	for _, file := range fixtureFiles(t) {
		root, err := fixture.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		docs := []*fixture.Node{root}
		if root.Has("cases") {
			docs = root.Get("cases").Items()
		}
		for _, doc := range docs {
			r := runCase(t.Context(), capabilityOf(file, root), doc, false)
			r.eachInvariant(doc, func(name string, v *fixture.Node) {
				holds, known := invariant.Named(name)
				for _, wrong := range wrongEvidence {
					c := *r.Case
					c.Turns = nil
					for _, turn := range r.Turns {
						changed := *turn
						wrong(&c, &changed)
						c.Turns = append(c.Turns, &changed)
					}
					if known && fails(holds, &c, v) {
						failed[name] = true
					} else if known && !failed[name] {
						failed[name] = false
					}
				}
			})
		}
	}
	for name, did := range failed {
		if !did {
			t.Errorf("%s holds for every run", name)
		}
	}
	if len(failed) < 20 {
		t.Errorf("only %d invariants were tried", len(failed))
	}
}

// fails reports whether an invariant fails; a panic, which the runner reports as a fault of the case, is a failure too.
func fails(holds invariant.Predicate, c *evidence.Case, v *fixture.Node) (failed bool) {
	defer func() {
		if recover() != nil {
			failed = true
		}
	}()
	return holds(c, c.Turns, v) != nil
}

// eachInvariant visits the invariants of a case and of its turns.
func (r *runner) eachInvariant(d *fixture.Node, visit func(string, *fixture.Node)) {
	if !d.IsMapping() {
		return
	}
	d.Each(func(key string, v *fixture.Node) bool {
		if (key == "invariants" || key == "observer_event_invariants") && v.IsMapping() {
			v.All(visit)
		} else if key == "expected" {
			r.eachInvariant(v, visit)
		} else if key == "invocations" {
			for _, one := range v.Items() {
				r.eachInvariant(one, visit)
			}
		}
		return true
	})
}
