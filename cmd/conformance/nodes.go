package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// step carries out one directive of a node. It adds to the update or ends the node with an error.
type step func(ctx context.Context, s graph.State, u *graph.Update) error

// node reads a node's directives; they run in the order of the file, each through the real call.
func (r *runner) node(sc *scope, name string, d *fixture.Node) graph.Node {
	steps := r.steps(sc, d)
	return func(ctx context.Context, s graph.State) (graph.Update, error) {
		var u graph.Update
		err := steps(ctx, s, &u)
		e := evidence.Entry{What: sc.entryKind(), Node: name, Messages: added(u)}
		if sc.conversation {
			e.Seen = graph.Messages.Get(s).Len()
		}
		r.recorder.Add(e)
		return u, err
	}
}

// steps reads the directives of one mapping into a step that carries out all of them.
func (r *runner) steps(sc *scope, d *fixture.Node) step {
	var steps []step
	d.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "update", "update_pure":
			add := update(sc.conversation, v)
			steps = append(steps, func(_ context.Context, _ graph.State, u *graph.Update) error {
				*u = append(*u, add...)
				return nil
			})
		case "update_from_field":
			steps = append(steps, fromFieldStep(v))
		case "raises":
			err := raised(v)
			steps = append(steps, func(context.Context, graph.State, *graph.Update) error { return err })
		case "suspend_with_descriptor":
			steps = append(steps, suspendStep(v, d.Get("mark_node_completed")))
		case "mark_node_completed":
			return d.Has("suspend_with_descriptor")
		case "explicit_save_session":
			if v.Flag(true) {
				steps = append(steps, func(ctx context.Context, _ graph.State, u *graph.Update) error {
					return graph.SaveSession(ctx, *u)
				})
			}
		case "conditional_suspend":
			steps = append(steps, r.conditionalStep(sc, v, d.Get("on_other_indices")))
		case "on_other_indices":
			return d.Has("conditional_suspend")
		case "calls_llm":
			steps = append(steps, r.modelStep(v))
		case "emits_log":
			steps = append(steps, r.logStep(v))
		case "wrap_with_middleware": // wraps the node, see middleware
		case "description":
		default:
			return false
		}
		return true
	})
	return func(ctx context.Context, s graph.State, u *graph.Update) error {
		for _, st := range steps {
			if err := st(ctx, s, u); err != nil {
				return err
			}
		}
		return nil
	}
}

// added counts the messages that an update adds.
func added(u graph.Update) int {
	n := 0
	for _, c := range u {
		if c.Field() == graph.Messages.Name() {
			n += c.Messages()
		}
	}
	return n
}

// fromFieldStep sets a field to another field's value, times a multiplier.
func fromFieldStep(d *fixture.Node) step {
	factor := 1.0
	if m := d.Get("multiplier"); m != nil {
		factor = m.Number()
	}
	pairs := texts(d)
	delete(pairs, "multiplier")
	return func(_ context.Context, s graph.State, to *graph.Update) error {
		for target, source := range pairs {
			v, _ := s.Value(source)
			switch n := v.(type) {
			case int64:
				if scaled := float64(n) * factor; scaled == float64(int64(scaled)) {
					v = int64(scaled)
				} else {
					v = scaled
				}
			case float64:
				v = n * factor
			}
			*to = append(*to, graph.Set(target, v))
		}
		return nil
	}
}

// raised returns the error of a raises directive: a plain one, or one with a category.
func raised(d *fixture.Node) error {
	if !d.IsMapping() {
		return errors.New(d.Text())
	}
	category, message := core.Category(d.Need("category").Text()), d.Get("message").Text()
	if category == core.NodeException {
		return errors.New(cmp.Or(message, "the fixture makes this node fail"))
	}
	return core.Errorf(category, "%s", message)
}

func suspendStep(d, mark *fixture.Node) step {
	desc := core.Descriptor{SignalID: core.SignalID(d.Need("signal_id").Text())}
	if m := d.Get("metadata"); m != nil {
		desc.Metadata = m.Fields()
	}
	var opts []graph.SuspendOption
	if !cmp.Or(d.Get("mark_node_completed"), mark).Flag(true) {
		opts = append(opts, graph.KeepNode())
	}
	return func(ctx context.Context, _ graph.State, _ *graph.Update) error {
		return graph.Suspend(ctx, desc, opts...)
	}
}

// logStep writes a log line.
func (r *runner) logStep(d *fixture.Node) step {
	body, level := d.Need("message").Text(), slog.LevelInfo
	if l := d.Get("level"); l != nil {
		name := strings.TrimSuffix(strings.ToUpper(l.Text()), "ING") // of WARNING
		if err := level.UnmarshalText([]byte(name)); err != nil {
			l.Malformed("unknown level %q", l.Text())
		}
	}
	return func(ctx context.Context, _ graph.State, _ *graph.Update) error {
		r.recorder.Log().Log(ctx, level, body)
		return nil
	}
}

// route reads a conditional edge. Its target is checked when it runs.
func route(d *fixture.Node, named func(string) string) func(graph.State) (string, error) {
	if call := d.Get("callable"); call != nil {
		switch call.Text() {
		case "state_field_read":
			field := d.Need("field").Text()
			return func(s graph.State) (string, error) {
				v, _ := s.Value(field)
				text, _ := v.(string)
				return named(text), nil
			}
		case "edge_raises":
			err := errors.New(d.Need("message").Text())
			return func(graph.State) (string, error) { return "", err }
		}
		call.Malformed("unknown callable")
	}
	field, want := d.Need("if_field").Text(), d.Need("equals").Value()
	then, other := named(d.Need("then").Text()), named(d.Need("else").Text())
	return func(s graph.State) (string, error) {
		if v, _ := s.Value(field); fixture.Equal(v, want) {
			return then, nil
		}
		return other, nil
	}
}
