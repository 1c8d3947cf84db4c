package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"

	"gatehouse/core"
)

// Policy is how a container handles a failing instance (pipeline-utilities §5).
type Policy int

// The policies.
const (
	FailFast Policy = iota // the first failure or suspension cancels the others and becomes the container's own
	// a failing instance contributes nothing; none may suspend (suspension_in_unsupported_context, which escapes)
	Collect
)

// DefaultConcurrency is how many instances of a container run at once by default.
const DefaultConcurrency = 10

// The keys of the dict that Collect records for an instance that failed.
const (
	FailureIndex    = "fan_out_index" // int64; of a fan-out
	FailureBranch   = "branch_name"   // of branches
	FailureCategory = "category"
	FailureMessage  = "message" // for people; "" if there is none
)

// FanOut runs a graph once for each item of a list (pipeline-utilities §5). The instances run in parallel; their
// results are merged once all have ended, in the order of the items. A node inside knows its instance by
// Event.FanOutIndex.
type FanOut struct {
	Graph  *Graph
	Items  string            // the field that holds the list
	Item   string            // the graph's field that gets the item
	Inputs map[string]string // more that each instance gets: the graph's field: this one's
	// this graph's field: the instance's, whose values are merged as one list, an item each
	Outputs     map[string]string
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
	return b.add(name, &node{kind: SpanFanOut, body: f, graphs: []*Graph{f.Graph}})
}

func (f FanOut) check(node string, parent *schema) error {
	if f.Item == "" || f.Items == "" {
		return core.Errorf(core.MappingUndeclaredField, "the fan-out %q needs a field of items and one for the item",
			node)
	}
	if err := checkErrorsField(node, parent, f.Errors); err != nil {
		return err
	}
	item := Projection{Inputs: map[string]string{f.Item: f.Items}}
	if err := item.check(node, parent, f.Graph.schema); err != nil {
		return err
	}
	return Projection{f.Inputs, f.Outputs}.check(node, parent, f.Graph.schema)
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
	parent := nr.graph.g.schema
	c := container{policy: f.Policy, limit: f.Concurrency, errors: f.Errors}
	for i := range items.Len() {
		c.instances = append(c.instances, &instance{
			graph: f.Graph, project: Projection{Inputs: f.Inputs}, item: Update{{f.Item, items.Index(i).Interface()}},
			labels: map[string]any{FailureIndex: int64(i)},
			span:   Span{Kind: SpanInstance, Name: nr.name, FanOutIndex: &i, Branch: nr.graph.branch},
		})
	}
	return c.run(ctx, nr, s, func() (u Update, err error) {
		for _, pair := range pairs(f.Outputs) {
			values := make([]any, 0, len(c.instances))
			for _, inst := range c.instances {
				if inst.done {
					values = append(values, clone(inst.state.values[pair[1]]))
				}
			}
			if u, err = u.withList(parent, pair[0], values); err != nil {
				return nil, err
			}
		}
		return u, nil
	})
}

// Branches runs several graphs in parallel on the same state (pipeline-utilities §6). Their results are merged once all
// have ended, in the order of declaration. A node inside knows its branch by Event.Branch.
type Branches struct {
	Branches []Branch
	Policy   Policy
	Errors   string // where Collect leaves its failures (Failure…), a list; "" = nowhere
}

// Branch is one of the Branches.
type Branch struct {
	Name    string
	Graph   *Graph
	Project Projection
}

// Branches adds a node of parallel branches.
func (b *Builder) Branches(name string, p Branches) *Builder {
	if len(p.Branches) == 0 {
		b.fail(core.Invalid, "node %q has no branches", name)
	}
	var graphs []*Graph
	known := map[string]bool{}
	for _, br := range p.Branches {
		if br.Name == "" || known[br.Name] {
			b.fail(core.Invalid, "node %q has two branches, or one without a name, called %q", name, br.Name)
		}
		known[br.Name] = true
		graphs = append(graphs, br.Graph)
	}
	return b.add(name, &node{kind: SpanBranches, body: p, graphs: graphs})
}

func (p Branches) check(node string, parent *schema) error {
	for _, b := range p.Branches {
		if err := b.Project.check(node, parent, b.Graph.schema); err != nil {
			return err
		}
	}
	return checkErrorsField(node, parent, p.Errors)
}

func (p Branches) run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error) {
	c := container{policy: p.Policy, limit: len(p.Branches), errors: p.Errors}
	for _, b := range p.Branches {
		c.instances = append(c.instances, &instance{
			graph: b.Graph, project: b.Project, labels: map[string]any{FailureBranch: b.Name},
			span: Span{Kind: SpanBranch, Name: b.Name, FanOutIndex: nr.graph.fanOutIndex, Branch: b.Name},
		})
	}
	return c.run(ctx, nr, s, func() (u Update, err error) {
		for _, inst := range c.instances {
			if !inst.done {
				continue
			}
			own, err := inst.project.output(nr.graph.g.schema, inst.state)
			if err != nil {
				return nil, err
			}
			u = append(u, own...)
		}
		return u, nil
	})
}

func checkErrorsField(node string, parent *schema, field string) error {
	if _, ok := parent.fields[field]; !ok && field != "" {
		return core.Errorf(core.MappingUndeclaredField, "node %q leaves its failures in %q, which is not declared",
			node, field)
	}
	return nil
}

var errSibling = errors.New("another instance ended the container")

// container is one execution of a fan-out or of branches.
type container struct {
	instances []*instance
	policy    Policy
	limit     int    // instances at once
	errors    string // the field for failures
}

// instance is one instance of a fan-out or one branch: how it is run, and its result.
type instance struct {
	graph   *Graph
	project Projection     // what it takes of the state
	item    Update         // the item of a fan-out
	span    Span           // its fan-out index and its branch are those of the events inside
	labels  map[string]any // identify it in metadata and failures

	state State
	done  bool
	susp  *suspension
	err   error
}

// run runs the instances and makes the result of the container from theirs. merge returns the update of those that are
// done.
//
// An instance that suspends suspends the container. No other instance contributes then, not even one that had already
// ended: what a pause stores must not depend on which instance was quicker (suspension §8.2, §8.3, §10). A resume
// continues after the container with the state that it began with; with KeepNode the whole container runs again.
func (c container) run(
	ctx context.Context, nr *nodeRun, s State, merge func() (Update, error),
) (Update, *suspension, error) {
	first := c.runAll(ctx, nr, s)
	switch {
	case first == nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case first == nil:
		u, err := merge()
		if err == nil && c.errors != "" && c.policy == Collect {
			u, err = u.withList(nr.graph.g.schema, c.errors, c.failures())
		}
		return u, nil, err
	case first.err != nil:
		return nil, nil, first.err
	}
	susp := *first.susp
	susp.attempt, susp.levels = nr.attempts-1, nil
	susp.descriptor.Metadata = maps.Clone(first.labels)
	maps.Copy(susp.descriptor.Metadata, first.susp.descriptor.Metadata)
	return nil, &susp, nil
}

// runAll runs the instances, at most limit at once, and waits for all. It returns the first one that ended the
// container, or nil if none did.
func (c container) runAll(ctx context.Context, nr *nodeRun, s State) *instance {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first *instance
		slots = make(chan struct{}, c.limit)
	)
	for _, inst := range c.instances {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			inst.err = context.Cause(ctx)
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			inst.run(ctx, nr, s, c.policy)
			if inst.done || c.policy == Collect && core.CategoryOf(inst.err) != core.SuspensionUnsupportedContext {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = inst
				cancel(errSibling)
			}
		})
	}
	wg.Wait()
	for _, inst := range c.instances {
		if inst != first && inst.susp != nil { // it suspended too, but later: only the first counts
			for _, report := range inst.susp.reports {
				report(inst.susp.descriptor, errSibling)
			}
			inst.susp, inst.err = nil, errSibling
		}
	}
	return first
}

// run runs the instance to its end, inside its span.
func (inst *instance) run(ctx context.Context, nr *nodeRun, s State, policy Policy) {
	inst.span.Namespace = nr.namespace()
	ctx, end := nr.graph.seg.span(ctx, inst.span)
	if inst.state, inst.err = inst.project.input(inst.graph.schema, s, inst.item); inst.err == nil {
		r := nr.subgraphRun(inst.graph, s)
		r.fanOutIndex, r.branch, r.noSuspend = inst.span.FanOutIndex, inst.span.Branch, r.noSuspend || policy == Collect
		inst.state, inst.susp, inst.err = r.runToEnd(ctx, start{state: inst.state, node: inst.graph.entry})
	}
	inst.done = inst.susp == nil && inst.err == nil
	if inst.susp != nil {
		end(SpanEnd{Suspended: &inst.susp.descriptor})
		return
	}
	end(SpanEnd{Err: inst.err})
}

// failures returns the records of the instances that failed.
func (c container) failures() []any {
	out := []any{}
	for _, inst := range c.instances {
		if inst.err != nil {
			f := maps.Clone(inst.labels)
			f[FailureCategory], f[FailureMessage] = string(core.CategoryOf(inst.err)), core.MessageOf(inst.err)
			out = append(out, f)
		}
	}
	return out
}

// withList adds a list to an update, in the form that the field's reducer takes.
func (u Update) withList(s *schema, name string, values []any) (Update, error) {
	f := s.fields[name]
	typ := f.reducer.update
	if typ == nil || typ.Kind() != reflect.Slice {
		return append(u, Change{name, values}), nil
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
	return append(u, Change{name, out.Interface()}), nil
}
