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

// The keys of the dict that Collect records for an instance that failed.
const (
	FailureIndex    = "fan_out_index" // int64; of a fan-out
	FailureBranch   = "branch_name"   // of branches
	FailureCategory = "category"
	FailureMessage  = "message" // for people; "" where there is none
)

var errSibling = errors.New("another instance ended the container")

// instance is one instance of a fan-out or one branch: how it is run, and its result.
type instance struct {
	run    func(ctx context.Context) (State, *suspension, error)
	labels map[string]any // identify it in metadata and failures

	state State
	done  bool
	susp  *suspension
	err   error
}

// runInstances runs the instances, at most limit at once, and waits for all. It returns the first one that ended the container, or
// nil if none did.
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
		if inst != first && inst.susp != nil { // it suspended too, but later: only the first counts
			for _, report := range inst.susp.reports {
				report(inst.susp.descriptor, errSibling)
			}
			inst.susp, inst.err = nil, errSibling
		}
	}
	return first
}

// containerResult makes the result of a container from those of its instances. merge returns the update of those that are done.
//
// An instance that suspends suspends the container. No other instance contributes then, not even one that had already ended: what a
// pause holds must not depend on which instance was quicker (suspension §8.2, §8.3, §10). A resume continues after the container with
// the state that it began with; with KeepNode the whole container runs again.
func (nr *nodeRun) containerResult(ctx context.Context, first *instance, merge func() (Update, error)) (Update, *suspension, error) {
	switch {
	case first == nil && ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case first == nil:
		u, err := merge()
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

// failures returns the records of the instances that failed.
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
