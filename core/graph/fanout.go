package graph

import (
	"context"
	"fmt"
	"reflect"

	"gatehouse/core"
)

// FanOut runs a graph once for each item of a list (pipeline-utilities §5). The instances run side by side; what they came to is
// merged once all have ended, in the order of the items. A node inside knows its instance by Event.FanOutIndex.
type FanOut struct {
	Graph       *Graph
	Items       string            // the field that holds the list
	Item        string            // the graph's field that gets the item
	Inputs      map[string]string // more that each instance gets: the graph's field: this one's
	Outputs     map[string]string // this graph's field: the instance's, whose values are merged as one list, an item each
	Policy      Policy
	Errors      string // where Collect leaves its failures (Failure…), a list; "" = nowhere
	Concurrency int    // at once; 0 = DefaultConcurrency
	EmptyIsFine bool   // no items do nothing (on_empty: noop), instead of fan_out_empty
}

// FanOut adds a node that is a fan-out.
func (b *Builder) FanOut(name string, f FanOut) *Builder {
	if f.Concurrency < 0 {
		b.fail(core.Invalid, "the fan-out %q runs %d instances at once", name, f.Concurrency)
	}
	if f.Concurrency == 0 {
		f.Concurrency = DefaultConcurrency
	}
	return b.add(name, &fanOut{f}, f.Graph)
}

type fanOut struct{ FanOut }

func (*fanOut) kind() SpanKind { return SpanFanOut }

func (f *fanOut) graphs() []*Graph { return []*Graph{f.Graph} }

func (f *fanOut) check(node string, parent *schema) error {
	inputs := map[string]string{f.Item: f.Items}
	if f.Item == "" || f.Items == "" {
		return core.Errorf(core.MappingUndeclaredField, "the fan-out %q needs a field of items and one for the item", node)
	}
	if f.Errors != "" {
		if _, ok := parent.fields[f.Errors]; !ok {
			return core.Errorf(core.MappingUndeclaredField, "the fan-out %q leaves its failures in %q, which is not declared", node, f.Errors)
		}
	}
	if err := checkNames(node, parent, f.Graph.schema, inputs, nil); err != nil {
		return err
	}
	return checkNames(node, parent, f.Graph.schema, f.Inputs, f.Outputs)
}

func (f *fanOut) run(ctx context.Context, v *visit, s State) (Update, *halt, error) {
	items := reflect.ValueOf(clone(s.values[f.Items]))
	if items.Kind() != reflect.Slice {
		return nil, nil, core.Errorf(core.StateValidationError, "the field %q of a fan-out must hold a list", f.Items)
	}
	if items.Len() == 0 {
		if f.EmptyIsFine {
			return nil, nil, nil
		}
		return nil, nil, core.Errorf(core.FanOutEmpty, "The field %q has no items.", f.Items)
	}
	parts := make([]*part, items.Len())
	for i := range parts {
		parts[i] = &part{
			note: map[string]any{FailureIndex: int64(i)},
			start: func(ctx context.Context) (State, *halt, error) {
				return f.instance(ctx, v, s, i, items.Index(i).Interface())
			},
		}
	}
	first := concurrently(ctx, parts, f.Concurrency, f.Policy)
	return v.settle(ctx, first, func() (Update, error) { return f.gather(v.r.g.schema, parts) })
}

func (f *fanOut) instance(ctx context.Context, v *visit, s State, i int, item any) (State, *halt, error) {
	ctx, end := v.r.l.span(ctx, Span{Kind: SpanInstance, Name: v.name, Namespace: v.namespace(), FanOutIndex: &i, Branch: v.r.branch})
	state, h, err := func() (State, *halt, error) {
		state, err := Projection{Inputs: f.Inputs, In: func(State) Update { return Update{{f.Item, item}} }}.enter(f.Graph.schema, s)
		if err != nil {
			return state, nil, err
		}
		r := v.within(f.Graph, s)
		r.index, r.sealed = &i, r.sealed || f.Policy == Collect
		return r.alone(ctx, start{state: state, node: f.Graph.entry})
	}()
	end(ending(h, err))
	return state, h, err
}

// alone is loop with a plain error.
func (r *run) alone(ctx context.Context, at start) (State, *halt, error) {
	state, h, fail := r.loop(ctx, at)
	if fail != nil {
		return state, nil, fail
	}
	return state, h, nil
}

func ending(h *halt, err error) SpanEnd {
	if h != nil {
		return SpanEnd{Suspended: &h.descriptor}
	}
	return SpanEnd{Err: err}
}

// gather is the update of the instances that are done, in the order of the items.
func (f *fanOut) gather(parent *schema, parts []*part) (Update, error) {
	var u Update
	for _, pair := range pairs(f.Outputs) {
		values := make([]any, 0, len(parts))
		for _, p := range parts {
			if p.done {
				values = append(values, clone(p.state.values[pair[1]]))
			}
		}
		list, err := listFor(parent.fields[pair[0]], values)
		if err != nil {
			return nil, err
		}
		u = append(u, Change{pair[0], list})
	}
	if f.Errors != "" && f.Policy == Collect {
		list, err := listFor(parent.fields[f.Errors], failures(parts))
		if err != nil {
			return nil, err
		}
		u = append(u, Change{f.Errors, list})
	}
	return u, nil
}

// listFor makes the list that a field's reducer takes.
func listFor(f field, values []any) (any, error) {
	typ := f.reducer.update
	if typ == nil || typ.Kind() != reflect.Slice {
		return values, nil
	}
	out := reflect.MakeSlice(typ, 0, len(values))
	for i, v := range values {
		item := reflect.ValueOf(v)
		if v == nil {
			item = reflect.Zero(typ.Elem())
		}
		if !item.Type().AssignableTo(typ.Elem()) {
			return nil, &Error{Category: core.ReducerError, Field: f.name, Reducer: f.reducer.name,
				Err: fmt.Errorf("result %d is %T, not %s", i, v, typ.Elem())}
		}
		out = reflect.Append(out, item)
	}
	return out.Interface(), nil
}
