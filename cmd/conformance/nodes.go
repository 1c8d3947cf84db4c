package main

import (
	"context"
	"errors"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// step carries out one directive of a node. It adds to the update or ends the node with an error.
type step func(ctx context.Context, s graph.State, u *graph.Update) error

// node reads a node's directives; they run in the order of the file, each through the real call.
func (w *world) node(sc *scope, name string, d *doc) graph.Node {
	steps := w.steps(sc, d)
	return func(ctx context.Context, s graph.State) (graph.Update, error) {
		var u graph.Update
		var err error
		for _, st := range steps {
			if err = st(ctx, s, &u); err != nil {
				break
			}
		}
		w.journal.add(entry{what: sc.journalled(), node: name, messages: added(u)})
		return u, err
	}
}

// steps reads directives that stand beside each other.
func (w *world) steps(sc *scope, d *doc) []step {
	var steps []step
	d.each(func(key string, v *doc) bool {
		switch key {
		case "update", "update_pure":
			steps = append(steps, updateStep(sc, v))
		case "update_from_field":
			steps = append(steps, fromFieldStep(v))
		case "raises":
			err := raised(v)
			steps = append(steps, func(context.Context, graph.State, *graph.Update) error { return err })
		case "suspend_with_descriptor":
			steps = append(steps, suspendStep(v, d.get("mark_node_completed")))
		case "mark_node_completed":
			return d.has("suspend_with_descriptor")
		case "explicit_save_session":
			if v.flag(true) {
				steps = append(steps, func(ctx context.Context, _ graph.State, u *graph.Update) error { return graph.SaveSession(ctx, *u) })
			}
		case "conditional_suspend":
			steps = append(steps, w.conditionalStep(sc, v, d.get("on_other_indices")))
		case "on_other_indices":
			return d.has("conditional_suspend")
		case "emits_log":
			steps = append(steps, w.logStep(v))
		case "wrap_with_middleware": // stands around the node, see middleware
		case "description":
		default:
			return false
		}
		return true
	})
	return steps
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

func updateStep(sc *scope, d *doc) step {
	u := update(sc.conversation, d.fields(), keysOf(d))
	return func(_ context.Context, _ graph.State, to *graph.Update) error {
		*to = append(*to, u...)
		return nil
	}
}

// fromFieldStep sets a field to another one, times a multiplier.
func fromFieldStep(d *doc) step {
	factor := 1.0
	if m := d.get("multiplier"); m != nil {
		factor = m.number()
	}
	pairs := map[string]string{}
	d.each(func(key string, v *doc) bool {
		if key != "multiplier" {
			pairs[key] = v.text()
		}
		return true
	})
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

// raised is the error of a raises directive: a plain one, or one with a category.
func raised(d *doc) error {
	if !d.isMapping() {
		return errors.New(d.text())
	}
	category, message := core.Category(d.need("category").text()), d.get("message").text()
	if category == core.NodeException {
		if message == "" {
			message = "the fixture makes this node fail"
		}
		return errors.New(message)
	}
	return core.Errorf(category, "%s", message)
}

func suspendStep(d, mark *doc) step {
	desc := descriptorOf(d)
	if own := d.get("mark_node_completed"); own != nil {
		mark = own
	}
	var opts []graph.SuspendOption
	if !mark.flag(true) {
		opts = append(opts, graph.KeepNode())
	}
	return func(ctx context.Context, _ graph.State, _ *graph.Update) error {
		return graph.Suspend(ctx, desc, opts...)
	}
}

func descriptorOf(d *doc) core.Descriptor {
	desc := core.Descriptor{SignalID: core.SignalID(d.need("signal_id").text())}
	if m := d.get("metadata"); m != nil {
		desc.Metadata = m.fields()
	}
	return desc
}

// route reads a conditional edge. Where it leads is told when it runs.
func route(d *doc, named func(string) string) func(graph.State) (string, error) {
	if call := d.get("callable"); call != nil {
		switch call.text() {
		case "state_field_read":
			field := d.need("field").text()
			return func(s graph.State) (string, error) {
				v, _ := s.Value(field)
				text, _ := v.(string)
				return named(text), nil
			}
		case "edge_raises":
			err := errors.New(d.need("message").text())
			return func(graph.State) (string, error) { return "", err }
		}
		call.malformed("unknown callable")
	}
	field, want := d.need("if_field").text(), d.need("equals").value()
	then, other := named(d.need("then").text()), named(d.need("else").text())
	return func(s graph.State) (string, error) {
		if v, _ := s.Value(field); equal(plain(v), want) {
			return then, nil
		}
		return other, nil
	}
}
