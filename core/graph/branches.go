package graph

import (
	"context"

	"gatehouse/core"
)

// Branches runs several graphs in parallel on the same state (pipeline-utilities §6). Their results are merged once all have ended,
// in the order of declaration. A node inside knows its branch by Event.Branch.
type Branches struct {
	Branches []Branch
	Policy   Policy
	Errors   string // where Collect leaves its failures (Failure…), a list; "" = nowhere
}

// Branch is one of them.
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
	return b.add(name, &node{kind: SpanBranches, run: p.run, graphs: graphs, check: p.check})
}

func (p Branches) check(node string, parent *schema) error {
	for _, b := range p.Branches {
		if err := b.Project.check(node, parent, b.Graph.schema); err != nil {
			return err
		}
	}
	if p.Errors != "" {
		if _, ok := parent.fields[p.Errors]; !ok {
			return core.Errorf(core.MappingUndeclaredField, "node %q leaves its failures in %q, which is not declared", node, p.Errors)
		}
	}
	return nil
}

func (p Branches) run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error) {
	all := p.Branches
	instances := make([]*instance, len(all))
	for i, b := range all {
		instances[i] = &instance{
			labels: map[string]any{FailureBranch: b.Name},
			run:    func(ctx context.Context) (State, *suspension, error) { return p.runBranch(ctx, nr, s, b) },
		}
	}
	first := runInstances(ctx, instances, len(instances), p.Policy)
	return nr.containerResult(ctx, first, func() (Update, error) {
		var u Update
		for i, b := range all {
			if !instances[i].done {
				continue
			}
			own, err := b.Project.output(nr.graph.g.schema, instances[i].state)
			if err != nil {
				return nil, err
			}
			u = append(u, own...)
		}
		if p.Errors != "" && p.Policy == Collect {
			list, err := listFor(nr.graph.g.schema.fields[p.Errors], failures(instances))
			if err != nil {
				return nil, err
			}
			u = append(u, Change{p.Errors, list})
		}
		return u, nil
	})
}

func (p Branches) runBranch(ctx context.Context, nr *nodeRun, s State, b Branch) (State, *suspension, error) {
	ctx, end := nr.graph.seg.span(ctx, Span{Kind: SpanBranch, Name: b.Name, Namespace: nr.namespace(), FanOutIndex: nr.graph.fanOutIndex, Branch: b.Name})
	state, susp, err := func() (State, *suspension, error) {
		state, err := b.Project.input(b.Graph.schema, s)
		if err != nil {
			return state, nil, err
		}
		r := nr.subgraphRun(b.Graph, s)
		r.branch, r.noSuspend = b.Name, r.noSuspend || p.Policy == Collect
		return r.runToEnd(ctx, start{state: state, node: b.Graph.entry})
	}()
	end(spanEnd(susp, err))
	return state, susp, err
}
