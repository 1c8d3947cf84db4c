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
type instance struct {
	run    func(ctx context.Context) (State, *suspension, error)
	labels map[string]any // what tells it from the others, for metadata and failures

	state State
	done  bool
	susp  *suspension
	err   error
}

// concurrently runs the parts, at most limit at once, and gives the first of those that ended the container, nil where none did.
// All have ended when it returns.
func runInstances(ctx context.Context, instances []*instance, limit int, policy Policy) *instance {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first *instance
		slots = make(chan struct{}, limit)
	)
	for _, inst := range instances {
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
			state, susp, err := inst.run(ctx)
			inst.state, inst.susp, inst.err, inst.done = state, susp, err, susp == nil && err == nil
			if inst.done || policy == Collect && core.CategoryOf(err) != core.SuspensionUnsupportedContext {
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
	for _, inst := range instances {
		if inst != first && inst.susp != nil { // it asked too, and too late: the container has one end
			for _, tell := range inst.susp.reports {
				tell(inst.susp.descriptor, errSibling)
			}
			inst.susp, inst.err = nil, errSibling
		}
	}
	return first
}

// settle makes a container's end of what its parts came to. gather is the update of those that are done.
//
// A part that suspends suspends the container, and no other part contributes, not even one that had already ended: what a pause holds
// must not depend on which part was quicker (suspension §8.2, §8.3, §10). A resume goes on behind the container with the state that it
// began with; where the node is kept (KeepNode) the container runs again as a whole.
func (nr *nodeRun) containerResult(ctx context.Context, first *instance, gather func() (Update, error)) (Update, *suspension, error) {
	switch {
	case first == nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case first == nil:
		u, err := gather()
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

// failures are the records of the parts that failed.
func failures(instances []*instance) []any {
	out := []any{}
	for _, inst := range instances {
		if inst.err != nil {
			f := maps.Clone(inst.labels)
			f[FailureCategory], f[FailureMessage] = string(core.CategoryOf(inst.err)), core.MessageOf(inst.err)
			out = append(out, f)
		}
	}
	return out
}
