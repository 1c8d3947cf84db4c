package agent

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// maxReads is how many calls of one turn run at the same time.
const maxReads = 8

// read runs the calls that need no approval, from the first call without a result to the first one that needs an
// approval or is refused, at the same time. It returns their results in the order of the calls, and whether one began
// before another had ended. A call that can't run has the fault as its result.
//
// Decision (2026-11): what comes after a call that changes something waits for that call. Rejected: to run all reading
// calls first. A model that asks for a change and then for the list expects the change in it.
func (l Loop) read(ctx context.Context, s graph.State) (
	results []core.ToolResult,
	overlapped bool,
	took time.Duration,
	err error,
) {
	turn, _ := core.TurnFrom(ctx)
	var run []func(context.Context) (core.ToolResult, error)
	ids, _ := graph.InvocationFrom(ctx)
	open := calls.Get(s)
	var meter overlap
	for i, call := range open {
		do, ok := l.reader(turn, call, tool.ReadKey(ids.Invocation, used.Get(s).Rounds, len(open)-i, call), &meter)
		if !ok {
			break
		}
		run = append(run, do)
	}
	if len(run) == 0 {
		return nil, false, 0, nil
	}
	results = make([]core.ToolResult, len(run))
	took, err = l.Limits.orDefault().within(ctx, used.Get(s).Time, func(ctx context.Context) error {
		var group errgroup.Group
		group.SetLimit(maxReads)
		for i, do := range run {
			group.Go(func() (err error) {
				results[i], err = do(ctx)
				return err
			})
		}
		return group.Wait()
	})
	return results, meter.seen.Load(), took - used.Get(s).Time, err
}

// overlap notices calls that run at the same time.
type overlap struct {
	running atomic.Int32
	seen    atomic.Bool
}

// reader returns what a call that needs no approval does: it reads, or gives the fault why it can't run. ok is false if
// it needs one.
func (l Loop) reader(turn core.Turn, call core.ToolCall, key string, meter *overlap) (
	do func(context.Context) (core.ToolResult, error),
	ok bool,
) {
	t, bound, err := l.find(call)
	if err != nil {
		return l.refusal(call, err), true
	}
	if t.Mutating || t.Ask != nil || l.Policy.Rule(turn, bound).Verdict != core.VerdictAllow {
		return nil, false
	}
	return func(ctx context.Context) (core.ToolResult, error) {
		if meter.running.Add(1) > 1 {
			meter.seen.Store(true)
		}
		defer meter.running.Add(-1)
		core.DeltasFrom(ctx).Step(call.Name)
		return l.traced(ctx, t.Name, call.ID, func(ctx context.Context) (core.ToolResult, error) {
			return l.Executor.Read(ctx, t, call, key)
		})
	}, true
}

// unknownTool is what spans and metrics call a tool that there is not: a model may make up any name.
const unknownTool = "unknown"

// refusal gives the fault why a call can't run.
func (l Loop) refusal(call core.ToolCall, fault error) func(context.Context) (core.ToolResult, error) {
	name := call.Name
	if core.CategoryOf(fault) == core.ToolUnknown {
		name = unknownTool
	}
	return func(ctx context.Context) (core.ToolResult, error) {
		return l.traced(ctx, name, call.ID, func(context.Context) (core.ToolResult, error) {
			return tool.Failed(fault), nil
		})
	}
}
