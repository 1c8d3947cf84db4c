package graph

import (
	"context"
	"fmt"
	"reflect"

	"gatehouse/core"
)

// FanOut runs a graph once for each item of a list (pipeline-utilities §5). The instances run in parallel; their results are
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
	return b.add(name, &node{kind: SpanFanOut, run: f.run, graphs: []*Graph{f.Graph}, check: f.check})
}

func (f FanOut) check(node string, parent *schema) error {
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

func (f FanOut) run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error) {
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
	instances := make([]*instance, items.Len())
	for i := range instances {
		instances[i] = &instance{
			labels: map[string]any{FailureIndex: int64(i)},
			run: func(ctx context.Context) (State, *suspension, error) {
				return f.runInstance(ctx, nr, s, i, items.Index(i).Interface())
			},
		}
	}
	first := runInstances(ctx, instances, f.Concurrency, f.Policy)
	return nr.containerResult(ctx, first, func() (Update, error) { return f.mergeOutputs(nr.graph.g.schema, instances) })
}

func (f FanOut) runInstance(ctx context.Context, nr *nodeRun, s State, i int, item any) (State, *suspension, error) {
	ctx, end := nr.graph.seg.span(ctx, Span{Kind: SpanInstance, Name: nr.name, Namespace: nr.namespace(), FanOutIndex: &i, Branch: nr.graph.branch})
	state, susp, err := func() (State, *suspension, error) {
		state, err := Projection{Inputs: f.Inputs, In: func(State) Update { return Update{{f.Item, item}} }}.input(f.Graph.schema, s)
		if err != nil {
			return state, nil, err
		}
		r := nr.subgraphRun(f.Graph, s)
		r.fanOutIndex, r.noSuspend = &i, r.noSuspend || f.Policy == Collect
		return r.runToEnd(ctx, start{state: state, node: f.Graph.entry})
	}()
	end(spanEnd(susp, err))
	return state, susp, err
}

// runToEnd is loop with a plain error.
func (r *graphRun) runToEnd(ctx context.Context, at start) (State, *suspension, error) {
	state, susp, fail := r.loop(ctx, at)
	if fail != nil {
		return state, nil, fail
	}
	return state, susp, nil
}

func spanEnd(susp *suspension, err error) SpanEnd {
	if susp != nil {
		return SpanEnd{Suspended: &susp.descriptor}
	}
	return SpanEnd{Err: err}
}

// mergeOutputs makes the update of the instances that are done, in the order of the items.
func (f FanOut) mergeOutputs(parent *schema, instances []*instance) (Update, error) {
	var u Update
	for _, pair := range pairs(f.Outputs) {
		values := make([]any, 0, len(instances))
		for _, inst := range instances {
			if inst.done {
				values = append(values, clone(inst.state.values[pair[1]]))
			}
		}
		list, err := listFor(parent.fields[pair[0]], values)
		if err != nil {
			return nil, err
		}
		u = append(u, Change{pair[0], list})
	}
	if f.Errors != "" && f.Policy == Collect {
		list, err := listFor(parent.fields[f.Errors], failures(instances))
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
