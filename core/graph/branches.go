package graph

import (
	"context"

	"gatehouse/core"
)

// Branches runs several graphs side by side on the same state (pipeline-utilities §6). What each gives back is kept until all have
// ended, and then merged in the order in which they were declared. A node inside knows its branch by Event.Branch.
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
	body := &branches{p}
	if len(p.Branches) == 0 {
		b.fail(core.Invalid, "node %q has no branches", name)
	}
	known := map[string]bool{}
	for _, br := range p.Branches {
		if br.Name == "" || known[br.Name] {
			b.fail(core.Invalid, "node %q has two branches, or one without a name, called %q", name, br.Name)
		}
		known[br.Name] = true
	}
	return b.add(name, body, body.graphs()...)
}

type branches struct{ Branches }

func (*branches) kind() SpanKind { return SpanBranches }

func (p *branches) graphs() []*Graph {
	var out []*Graph
	for _, b := range p.Branches.Branches {
		out = append(out, b.Graph)
	}
	return out
}

func (p *branches) check(node string, parent *schema) error {
	for _, b := range p.Branches.Branches {
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

func (p *branches) run(ctx context.Context, v *visit, s State) (Update, *halt, error) {
	all := p.Branches.Branches
	parts := make([]*part, len(all))
	for i, b := range all {
		parts[i] = &part{
			note:  map[string]any{FailureBranch: b.Name},
			start: func(ctx context.Context) (State, *halt, error) { return p.branch(ctx, v, s, b) },
		}
	}
	first := concurrently(ctx, parts, len(parts), p.Policy)
	return v.settle(ctx, first, func() (Update, error) {
		var u Update
		for i, b := range all {
			if !parts[i].done {
				continue
			}
			own, err := b.Project.exit(v.r.g.schema, parts[i].state)
			if err != nil {
				return nil, err
			}
			u = append(u, own...)
		}
		if p.Errors != "" && p.Policy == Collect {
			list, err := listFor(v.r.g.schema.fields[p.Errors], failures(parts))
			if err != nil {
				return nil, err
			}
			u = append(u, Change{p.Errors, list})
		}
		return u, nil
	})
}

func (p *branches) branch(ctx context.Context, v *visit, s State, b Branch) (State, *halt, error) {
	ctx, end := v.r.l.span(ctx, Span{Kind: SpanBranch, Name: b.Name, Namespace: v.namespace(), FanOutIndex: v.r.index, Branch: b.Name})
	state, h, err := func() (State, *halt, error) {
		state, err := b.Project.enter(b.Graph.schema, s)
		if err != nil {
			return state, nil, err
		}
		r := v.within(b.Graph, s)
		r.branch, r.sealed = b.Name, r.sealed || p.Policy == Collect
		return r.alone(ctx, start{state: state, node: b.Graph.entry})
	}()
	end(ending(h, err))
	return state, h, err
}
