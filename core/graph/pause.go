package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// propagate adds this graph to the suspension that the node returned. The attempt's end is reported once the pause is stored.
func (nr *nodeRun) propagate() *suspension {
	susp, att := nr.susp, nr.open
	nr.open = nil
	susp.levels = append(susp.levels, level{nr.graph, nr.name, nr.state})
	susp.path = append([]string{nr.name}, susp.path...)
	susp.reports = append(susp.reports, func(d core.Descriptor, err error) {
		att.e.Phase, att.e.Err = PhaseCompleted, err
		if err == nil {
			att.e.Phase, att.e.Descriptor = PhaseSuspended, &d
		}
		nr.graph.emit(att.e, nr.node.kind)
		att.end(SpanEnd{Err: err, Suspended: att.e.Descriptor})
	})
	return susp
}

// suspend stores the paused invocation and its session, together or not at all (suspension §8.6), and only then reports that the
// node suspended.
func (seg *segment) suspend(ctx context.Context, susp *suspension) Result {
	state := susp.levels[len(susp.levels)-1].state
	res := Result{Status: Suspended, State: state, Node: susp.path[len(susp.path)-1], Namespace: susp.path, Descriptor: clone(susp.descriptor)}
	if err := seg.storePause(ctx, susp, state); err != nil {
		res.Status, res.Err, res.Descriptor = Errored, err, core.Descriptor{}
	}
	for _, report := range susp.reports {
		report(susp.descriptor, res.Err)
	}
	return res
}

func (seg *segment) storePause(ctx context.Context, susp *suspension, state State) error {
	session, err := seg.sessionRecord(state)
	if err != nil {
		return persistenceError(ctx, err)
	}
	keepsHistory := session != nil && session.Messages != nil
	rec := &core.PausedRecord{
		Invocation: seg.ids.Invocation, Correlation: seg.ids.Correlation, Session: seg.ids.Session,
		Descriptor: clone(susp.descriptor), Graph: seg.g.name, GraphVersion: seg.g.version, SchemaVersion: seg.g.schemaVersion,
		Type: recordType, MarkCompleted: !susp.rerun, Step: seg.step, Messages: seg.firstRow, Trace: seg.spanContext(ctx),
	}
	if !susp.rerun {
		in := susp.levels[0]
		if !slices.Contains(in.r.completed, in.node) {
			in.r.completed = append(in.r.completed, in.node)
		}
	}
	for i, in := range slices.Backward(susp.levels) {
		f := core.Frame{Node: in.node, Completed: slices.Clone(in.r.completed)}
		outermost := i == len(susp.levels)-1
		if !outermost {
			f.Graph, f.GraphVersion, f.SchemaVersion = in.r.g.name, in.r.g.version, in.r.g.schemaVersion
		}
		if f.State, err = in.state.encode(in.r.g.schema.order, outermost && keepsHistory); err != nil {
			return persistenceError(ctx, err)
		}
		if i == 0 && susp.rerun {
			f.Attempt = susp.attempt
		}
		rec.Frames = append(rec.Frames, f)
	}
	if keepsHistory {
		rec.Messages += len(session.Messages.Added())
	}
	if err := seg.st.Pauses.Pause(ctx, rec, session); err != nil {
		return persistenceError(ctx, err)
	}
	return nil
}

// recordType marks a record as that of a suspension.
const recordType = "suspended"

func persistenceError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return core.Wrap(core.SuspensionPersistenceFailed, err, "Can't store the paused turn.")
}

// ownPauses stores the pauses of invocations without a PauseStore in the graph's own memory. It saves the session first: if that
// fails, there is no pause.
type ownPauses struct {
	*Memory
	sessions core.SessionStore
}

func (u ownPauses) Pause(ctx context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	if session != nil {
		if u.sessions == nil {
			return errors.New("there is no session store")
		}
		if err := u.sessions.Save(ctx, session, core.SaveOptions{}); err != nil {
			return err
		}
	}
	return u.Memory.Pause(ctx, rec, nil)
}
