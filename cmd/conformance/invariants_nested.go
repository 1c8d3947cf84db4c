package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// nestedRules are of what happens inside subgraphs, fan-outs and branches, of middleware, spans and log lines. They stand before
// the others.
var nestedRules = []rule{
	valued(`session_id_uniform_across_span_tree`, spansCarrySession),
	valued(`all_logs_carry_session_id`, logsCarrySession),
	named(`session_id_uniform|every_span|all_spans`, spansCarrySession),
	named(`all_logs|every_log|log_records?_carry`, logsCarrySession),
	named(`span.*(status_ok|suspend)|suspended_(outcome_)?span|span_attribut`, spansOfSuspensions),
	named(`resume.*(link|span)|linked`, resumesLinked),

	named(`descriptor.*fan_out_index|fan_out_index.*(descriptor|metadata)`, descriptorCarries("fan_out_index")),
	named(`descriptor.*branch_name|branch_name.*(descriptor|metadata)`, descriptorCarries("branch_name")),
	named(`siblings?_(are_|is_)?cancel`, nothingLeftRunning),
	named(`(instance|branch)_suspend|suspends_(the_)?whole|subgraph_suspend|suspend\w*_propagates`, suspendedInside),
	named(`re_?enters?(_at)?_|resume_inside`, resumeReenters),
	named(`after_\w+_runs_post_resume|outer_\w*continues`, outerContinues),
	named(`middleware_post|post_next`, behindNextSkipped),
	named(`middleware_pre|pre_next`, beforeNextRan),
	named(`wrapped_node\w*(not|never)|node_(did|does)_not_run`, wrappedNodeNotRun),
	named(`(collect|escapes?|swallow).*(suspend|unsupported|policy|rais|error)|suspend.*collect`, unsupportedContext),
	named(`no_(inner|instance|per_instance|nested|branch)\w*(load|save)|(subgraph|instance|branch)\w*_no_session_(load|save)`, sessionAtTheOutermostOnly),
	named(`(subgraph|instance|inner|branch)\w*(fields_match|not_see|only_sees?|no_session|sees_only|projected)`, innerStateIsItsOwn),
}

// spansCarrySession: every span of a turn that is bound to a session carries its id, and of one that is not none does.
func spansCarrySession(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "turn with spans", func(t *turn) bool { return len(t.spans) > 0 }, func(t *turn) error {
		want := any(string(t.session))
		if id, ok := arg.value().(string); ok {
			want = id
		}
		return everySpan(t.spans, func(s *span) error {
			got, there := s.attrs["openarmature.session_id"]
			return ifTrue(there == (want != "") && (!there || got == want), "span %q carries %s", s.name, show(got))
		})
	})
}

func everySpan(spans []*span, holds func(*span) error) error {
	for _, s := range spans {
		if err := holds(s); err != nil {
			return err
		}
		if err := everySpan(s.children, holds); err != nil {
			return err
		}
	}
	return nil
}

func logsCarrySession(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "turn with log lines", func(t *turn) bool { return len(t.lines) > 0 }, func(t *turn) error {
		want := any(string(t.session))
		if id, ok := arg.value().(string); ok {
			want = id
		}
		for _, l := range t.lines {
			if got, there := l.attrs["openarmature.session_id"]; there != (want != "") || there && got != want {
				return fmt.Errorf("line %q carries %s", l.body, show(got))
			}
		}
		return nil
	})
}

// spansOfSuspensions: the spans on the way to the suspension end well, and say that it was one.
func spansOfSuspensions(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) && len(t.spans) > 0 }
	return each(ts, "suspended turn with spans", meant, func(t *turn) error {
		root := t.spans[0]
		if root.status != "OK" || root.attrs["openarmature.outcome"] != "suspended" || root.attrs["openarmature.suspension.signal_id"] != nil {
			return fmt.Errorf("the invocation's span is %s with %s", root.status, show(root.attrs))
		}
		told := 0
		err := everySpan(t.spans, func(s *span) error {
			if id := s.attrs["openarmature.suspension.signal_id"]; id != nil {
				told++
				return ifTrue(id == string(t.descriptor.SignalID) && s.status == "OK" && s.attrs["openarmature.outcome"] == "suspended", "span %q tells of %v", s.name, id)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return ifTrue(told == 1, "%d spans tell of the signal", told)
	})
}

func resumesLinked(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return resumed(t) && len(t.spans) > 0 }
	return each(ts, "resumed turn with spans", meant, func(t *turn) error {
		return ifTrue(t.spans[0].links == 1, "it has %d links", t.spans[0].links)
	})
}

func descriptorCarries(key string) predicate {
	return func(_ *world, ts []*turn, _ *doc) error {
		return each(ts, "suspended turn", suspended, func(t *turn) error {
			return ifTrue(t.descriptor.Metadata[key] != nil, "its metadata are %s", show(t.descriptor.Metadata))
		})
	}
}

func inContainer(t *turn) bool { return suspended(t) && len(t.result().Namespace) > 1 }

// suspendedInside: a node inside suspended, and the whole invocation with it, at the outermost node that holds it.
func suspendedInside(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that suspended inside", inContainer, func(t *turn) error {
		ran := t.ran()
		return ifTrue(len(ran) > 0 && ran[len(ran)-1] == t.result().Namespace[0], "these nodes ran: %v", ran)
	})
}

// nothingLeftRunning: of a turn that is over, every attempt that began has ended.
func nothingLeftRunning(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return len(t.inside) > 0 && !completed(t) }
	return each(ts, "turn that ended early", meant, func(t *turn) error {
		open := map[int]bool{}
		for _, e := range t.inside {
			open[e.Step] = e.Phase == graph.PhaseStarted
		}
		for step, is := range open {
			if is {
				return fmt.Errorf("step %d has not ended", step)
			}
		}
		return nil
	})
}

var reentry = regexp.MustCompile(`re_?enters?_(?:at_)?(\w+)$`)

// resumeReenters: a resumed turn goes on inside, behind what was done there.
func resumeReenters(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		var first *graph.Event
		for i, e := range t.inside {
			if e.Phase == graph.PhaseStarted {
				first = &t.inside[i]
				break
			}
		}
		if first == nil {
			return errors.New("nothing ran")
		}
		m := reentry.FindStringSubmatch(arg.path)
		return ifTrue(m == nil || first.Node == m[1] && len(first.Namespace) > 1, "it went on at %v", first.Namespace)
	})
}

// outerContinues: behind the node that holds the suspension, the outer graph goes on.
func outerContinues(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "resumed turn", resumed, func(t *turn) error {
		ran := t.ran()
		return ifTrue(completed(t) && len(ran) > 0 && ran[len(ran)-1] != suspendedAt(t), "these nodes ran: %v", ran)
	})
}

func (t *turn) marked() []string {
	out := []string{}
	for _, e := range t.entries {
		if e.what == "middleware" {
			out = append(out, e.node)
		}
	}
	return out
}

// around are the markers of the middleware around the node that suspended.
func (w *world) around(t *turn) []marker {
	var out []marker
	for _, m := range w.markers {
		if slices.Contains(t.result().Namespace, m.node) {
			out = append(out, m)
		}
	}
	return out
}

func beforeNextRan(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) && len(w.around(t)) > 0 }
	return each(ts, "suspended turn with middleware", meant, func(t *turn) error {
		for _, m := range w.around(t) {
			if m.before != "" && !slices.Contains(t.marked(), m.before) {
				return fmt.Errorf("%q was not written", m.before)
			}
		}
		return nil
	})
}

func behindNextSkipped(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) && len(w.around(t)) > 0 }
	return each(ts, "suspended turn with middleware", meant, func(t *turn) error {
		for _, m := range w.around(t) {
			if m.behind != "" && slices.Contains(t.marked(), m.behind) {
				return fmt.Errorf("%q was written", m.behind)
			}
		}
		return nil
	})
}

// wrappedNodeNotRun: where middleware asked for what it may not, its node did not run.
func wrappedNodeNotRun(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.category == core.SuspensionUnsupportedContext }
	return each(ts, "turn whose middleware suspended", meant, func(t *turn) error {
		for _, m := range w.markers {
			if m.asks && slices.Contains(t.ran(), m.node) {
				return fmt.Errorf("%q ran", m.node)
			}
		}
		return nil
	})
}

// sessionAtTheOutermostOnly: a turn loads and saves once, however many graphs are inside.
func sessionAtTheOutermostOnly(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that ran inside", func(t *turn) bool { return len(t.inside) > 0 }, func(t *turn) error {
		return ifTrue(t.count("load") <= 1 && t.count("save") <= 1 && t.count("explicit save") == 0, "the store was called otherwise: %v", t.entries)
	})
}

// innerStateIsItsOwn: the state inside has the fields of the subgraph's schema and no other.
func innerStateIsItsOwn(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		return slices.ContainsFunc(t.inside, func(e graph.Event) bool { return len(e.Namespace) > 1 })
	}
	return each(ts, "turn that ran inside", meant, func(t *turn) error {
		for _, e := range t.inside {
			fits := len(e.Namespace) == 1
			for _, sc := range w.inner {
				fits = fits || slices.Equal(e.Pre.Fields(), sc.fields)
			}
			if !fits {
				return fmt.Errorf("node %q saw %v", e.Node, e.Pre.Fields())
			}
		}
		return nil
	})
}
