package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// pause adds this level to the suspension that came out of the node. The attempt's event waits until the pause is stored.
func (v *visit) pause() (*halt, *Error) {
	h, t := v.halt, v.open
	v.open = nil
	h.levels = append(h.levels, level{v.r, v.name, v.pre})
	h.path = append([]string{v.name}, h.path...)
	h.told = append(h.told, func(d core.Descriptor, err error) {
		t.e.Phase, t.e.Err = PhaseCompleted, err
		if err == nil {
			t.e.Phase, t.e.Descriptor = PhaseSuspended, &d
		}
		v.r.emit(t.e, v.node.body.kind())
		t.end(SpanEnd{Err: err, Suspended: t.e.Descriptor})
	})
	return h, nil
}

// suspend stores the paused invocation and its session, together or not at all (suspension §8.6), and only then says that the
// node suspended.
func (l *leg) suspend(ctx context.Context, h *halt) Result {
	state := h.levels[len(h.levels)-1].state
	res := Result{Status: Suspended, State: state, Node: h.path[len(h.path)-1], Namespace: h.path, Descriptor: clone(h.descriptor)}
	if err := l.store(ctx, h, state); err != nil {
		res.Status, res.Err, res.Descriptor = Errored, err, core.Descriptor{}
	}
	for _, tell := range h.told {
		tell(h.descriptor, res.Err)
	}
	return res
}

func (l *leg) store(ctx context.Context, h *halt, state State) error {
	session, err := l.record(state)
	if err != nil {
		return persistence(ctx, err)
	}
	keepsHistory := session != nil && session.Messages != nil
	rec := &core.PausedRecord{
		Invocation: l.ids.Invocation, Correlation: l.ids.Correlation, Session: l.ids.Session,
		Descriptor: clone(h.descriptor), Graph: l.g.name, GraphVersion: l.g.version, SchemaVersion: l.g.schemaVersion,
		Type: pausedType, MarkCompleted: !h.rerun, Step: l.step, Messages: l.from, Trace: l.mark(ctx),
	}
	if !h.rerun {
		in := h.levels[0]
		if !slices.Contains(in.r.completed, in.node) {
			in.r.completed = append(in.r.completed, in.node)
		}
	}
	for i, in := range slices.Backward(h.levels) {
		f := core.Frame{Node: in.node, Completed: slices.Clone(in.r.completed)}
		if outermost := i == len(h.levels)-1; !outermost {
			f.Graph, f.GraphVersion, f.SchemaVersion = in.r.g.name, in.r.g.version, in.r.g.schemaVersion
			f.State, err = in.state.encode(in.r.g.schema.order, false)
		} else {
			f.State, err = in.state.encode(in.r.g.schema.order, keepsHistory)
		}
		if err != nil {
			return persistence(ctx, err)
		}
		if i == 0 && h.rerun {
			f.Attempt = h.attempt
		}
		rec.Frames = append(rec.Frames, f)
	}
	if keepsHistory {
		rec.Messages += len(session.Messages.Added())
	}
	if err := l.st.Pauses.Pause(ctx, rec, session); err != nil {
		return persistence(ctx, err)
	}
	return nil
}

// pausedType tells a suspension from a checkpoint.
const pausedType = "suspended"

func persistence(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return core.Wrap(core.SuspensionPersistenceFailed, err, "Can't store the paused turn.")
}

// unpaired keeps the records of invocations that were given no PauseStore: the session is saved first, and without it no record
// is kept.
type unpaired struct {
	*Memory
	sessions core.SessionStore
}

func (u unpaired) Pause(ctx context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
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
