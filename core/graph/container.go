package graph

import (
	"context"
	"errors"
	"maps"
	"sync"

	"gatehouse/core"
)

// Policy says what a failing instance of a container means (pipeline-utilities §5).
type Policy int

// The policies.
const (
	FailFast Policy = iota // the first failure cancels the others and is the container's own; so is the first suspension
	Collect                // a failing instance gives nothing; none may suspend (suspension_in_unsupported_context, which escapes)
)

// DefaultConcurrency is how many instances of a container run at once where it does not say.
const DefaultConcurrency = 10

// Failure is what Collect writes down of an instance that failed, as the fields of a dict.
const (
	FailureIndex    = "fan_out_index" // int64; of a fan-out
	FailureBranch   = "branch_name"   // of branches
	FailureCategory = "category"
	FailureMessage  = "message" // for people; "" where there is none
)

var errSibling = errors.New("another instance ended the container")

// part is one instance of a container or one of its branches: how it is run, and what it came to.
type part struct {
	start func(ctx context.Context) (State, *halt, error)
	note  map[string]any // what tells it from the others, for metadata and failures

	state State
	done  bool
	halt  *halt
	err   error
}

// concurrently runs the parts, at most limit at once, and gives the first of those that ended the container, nil where none did.
// All have ended when it returns.
func concurrently(ctx context.Context, parts []*part, limit int, policy Policy) *part {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first *part
		slots = make(chan struct{}, limit)
	)
	for _, p := range parts {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			p.err = context.Cause(ctx)
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			state, h, err := p.start(ctx)
			p.state, p.halt, p.err, p.done = state, h, err, h == nil && err == nil
			if p.done || policy == Collect && core.CategoryOf(err) != core.SuspensionUnsupportedContext {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = p
				cancel(errSibling)
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		if p != first && p.halt != nil { // it asked too, and too late: the container has one end
			for _, tell := range p.halt.told {
				tell(p.halt.descriptor, errSibling)
			}
			p.halt, p.err = nil, errSibling
		}
	}
	return first
}

// settle makes a container's end of what its parts came to. gather is the update of those that are done.
//
// A part that suspends suspends the container, and no other part contributes, not even one that had already ended: what a pause holds
// must not depend on which part was quicker (suspension §8.2, §8.3, §10). A resume goes on behind the container with the state that it
// began with; where the node is kept (KeepNode) the container runs again as a whole.
func (v *visit) settle(ctx context.Context, first *part, gather func() (Update, error)) (Update, *halt, error) {
	switch {
	case first == nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case first == nil:
		u, err := gather()
		return u, nil, err
	case first.err != nil:
		return nil, nil, first.err
	}
	h := first.halt
	descriptor := h.descriptor
	descriptor.Metadata = maps.Clone(first.note)
	out := &halt{descriptor: descriptor, rerun: h.rerun,
		attempt: v.attempts - 1, path: h.path, told: h.told}
	maps.Copy(out.descriptor.Metadata, h.descriptor.Metadata)
	return nil, out, nil
}

// failures are the records of the parts that failed.
func failures(parts []*part) []any {
	out := []any{}
	for _, p := range parts {
		if p.err != nil {
			f := maps.Clone(p.note)
			f[FailureCategory], f[FailureMessage] = string(core.CategoryOf(p.err)), core.MessageOf(p.err)
			out = append(out, f)
		}
	}
	return out
}
