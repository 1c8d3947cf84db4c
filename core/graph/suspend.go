package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gatehouse/core"
)

// errSuspended is what Suspend returns: nobody can make it, and nothing depends on whether it comes back.
var errSuspended error = suspended{}

type suspended struct{}

func (suspended) Error() string { return "the invocation suspends here; return from the node" }

// pause is a suspension that a node has asked for.
type pause struct {
	descriptor core.Descriptor
	rerun      bool
}

// attempt is the engine's side of one run of a node's body: what Suspend and SaveSession find in the context.
type attempt struct {
	leg   *leg
	state State

	mu     sync.Mutex
	asked  *pause
	closed bool
}

type attemptKey struct{}

// close ends the attempt and gives the suspension that was asked for.
func (a *attempt) close() *pause {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return a.asked
}

func attemptFrom(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// SuspendOption changes how an invocation goes on after a suspension.
type SuspendOption func(*pause)

// KeepNode leaves the node uncompleted: a resume runs its body again, with the payload overlaid (suspension §3,
// mark_node_completed=false). Without it a resume goes on behind the node.
func KeepNode() SuspendOption { return func(p *pause) { p.rerun = true } }

// Suspend ends the node's attempt and suspends the invocation until a signal resumes it (suspension §3):
//
//	return nil, graph.Suspend(ctx, descriptor)
//
// Once it was called, the attempt is over whatever the node returns; of two calls the first counts. Outside a node's body it does
// nothing and gives suspension_in_unsupported_context. A descriptor without a signal id, or whose metadata can't be written as
// JSON, is refused (invalid) and does not suspend.
func Suspend(ctx context.Context, d core.Descriptor, opts ...SuspendOption) error {
	a := attemptFrom(ctx)
	if a == nil {
		return outside("suspend")
	}
	if d.SignalID == "" {
		return core.Errorf(core.Invalid, "a suspension needs a signal id")
	}
	if _, err := json.Marshal(d.Metadata); err != nil {
		return core.Wrap(core.Invalid, err, "the metadata of a suspension must be JSON")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return outside("suspend")
	}
	if a.asked == nil {
		p := &pause{descriptor: clone(d)}
		for _, o := range opts {
			o(p)
		}
		a.asked = p
	}
	return errSuspended
}

func outside(what string) error {
	return core.Errorf(core.SuspensionUnsupportedContext, "only a node's body can %s", what)
}

// SaveSession saves the session in mid-invoke (sessions §6.2): the state as it will be once u, which the node then returns, is
// merged. It has committed when it returns, whatever becomes of the invocation; an error is the node's to handle. An invocation
// without a session saves nothing.
func SaveSession(ctx context.Context, u Update) error {
	a := attemptFrom(ctx)
	if a == nil {
		return outside("save the session")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return outside("save the session")
	}
	merged, fail := a.state.merge(u)
	if fail != nil {
		return fail
	}
	if !a.leg.sessioned() {
		return nil
	}
	return a.leg.save(ctx, merged, core.SaveOptions{Explicit: true})
}

// suspend stores the paused invocation and its session, together or not at all (suspension §8.6), and only then says that the
// node suspended.
func (l *leg) suspend(ctx context.Context, e Event, p pause) *Result {
	res := Result{State: e.Pre, Node: e.Node, Namespace: e.Namespace}
	if err := l.store(ctx, e, p); err != nil {
		e.Phase, e.Err = PhaseCompleted, err
		l.queue.put(e)
		res.Status, res.Err = Errored, err
		return &res
	}
	e.Phase, e.Descriptor = PhaseSuspended, &p.descriptor
	l.queue.put(e)
	res.Status, res.Descriptor = Suspended, clone(p.descriptor)
	return &res
}

func (l *leg) store(ctx context.Context, e Event, p pause) error {
	if !p.rerun {
		l.complete(e.Node)
	}
	session, err := l.record(e.Pre)
	if err != nil {
		return persistence(ctx, err)
	}
	keepsHistory := session != nil && session.Messages != nil
	values, err := e.Pre.encode(l.g.schema.order, keepsHistory)
	if err != nil {
		return persistence(ctx, err)
	}
	rec := &core.PausedRecord{
		Invocation: l.ids.Invocation, Correlation: l.ids.Correlation, Session: l.ids.Session,
		Descriptor: clone(p.descriptor), Graph: l.g.name, GraphVersion: l.g.version, SchemaVersion: l.g.schemaVersion,
		Type:          pausedType,
		Frames:        []core.Frame{{Node: e.Node, State: values, Completed: slices.Clone(l.completed)}},
		MarkCompleted: !p.rerun, Step: l.step, Messages: l.from,
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
	return core.Wrap(core.SuspensionPersistenceFailed, err, "The pause could not be stored.")
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
