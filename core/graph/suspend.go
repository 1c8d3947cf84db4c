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

// errSuspended is what Suspend returns. The node need not return it.
var errSuspended = errors.New("the invocation suspends here; return from the node")

// suspension is a request to suspend, on its way from the node outwards to the invocation.
type suspension struct {
	descriptor core.Descriptor
	rerun      bool                           // KeepNode: a resume runs the node again
	attempt    int                            // of the node that asked
	levels     []level                        // innermost graph first
	path       []string                       // of nodes, outermost first
	reports    []func(core.Descriptor, error) // end the attempts, once the pause is stored or has failed
}

// level is a graph that suspends, with the node at which it does.
type level struct {
	r     *graphRun
	node  string
	state State
}

// nodeScope is what Suspend, SaveSession and Emit find in the context: one call of a node's function, or of the
// middleware around it.
type nodeScope struct {
	node       *nodeRun
	attempt    int // of the node's function
	middleware bool

	mu     sync.Mutex
	susp   *suspension
	err    error
	closed bool
}

type scopeKey struct{}

// close ends the scope. It returns the suspension that was requested, or the error that the attempt must end with.
func (scope *nodeScope) close() (*suspension, error) {
	scope.mu.Lock()
	defer scope.mu.Unlock()
	scope.closed = true
	return scope.susp, scope.err
}

func scopeFrom(ctx context.Context) *nodeScope {
	scope, _ := ctx.Value(scopeKey{}).(*nodeScope)
	return scope
}

// SuspendOption changes how an invocation resumes.
type SuspendOption func(*suspension)

// KeepNode leaves the node uncompleted: a resume runs its body again, with the payload overlaid (suspension §3,
// mark_node_completed=false). Without it a resume continues after the node.
func KeepNode() SuspendOption { return func(susp *suspension) { susp.rerun = true } }

// Suspend ends the node's attempt and suspends the invocation until a signal resumes it (suspension §3):
//
//	return nil, graph.Suspend(ctx, descriptor)
//
// The attempt then suspends whatever the node returns, and middleware around it does not continue after its call of
// next. Of two calls the first counts. Outside a node, Suspend does nothing and returns
// suspension_in_unsupported_context. In middleware, and inside a container with Policy Collect, it returns the same
// error, and the attempt fails with it whatever is returned; the node inside that middleware does not run. A descriptor
// without a signal id, or with metadata that is not JSON, is refused (invalid) and does not suspend.
func Suspend(ctx context.Context, d core.Descriptor, opts ...SuspendOption) error {
	scope := scopeFrom(ctx)
	if scope == nil {
		return unsupported("suspend")
	}
	scope.mu.Lock()
	defer scope.mu.Unlock()
	switch {
	case scope.closed:
		return unsupported("suspend")
	case scope.middleware:
		scope.err = unsupported("suspend")
		return scope.err
	case scope.node.graph.noSuspend:
		scope.err = core.Errorf(core.SuspensionUnsupportedContext,
			"nothing can suspend inside a container that collects failures")
		return scope.err
	case d.SignalID == "":
		return core.Errorf(core.Invalid, "a suspension needs a signal id")
	}
	if _, err := json.Marshal(d.Metadata); err != nil {
		return core.Wrap(core.Invalid, err, "the metadata of a suspension must be JSON")
	}
	if scope.susp == nil {
		susp := &suspension{descriptor: clone(d), attempt: scope.node.attempts - 1}
		for _, o := range opts {
			o(susp)
		}
		scope.susp = susp
	}
	return errSuspended
}

func unsupported(what string) error {
	return core.Errorf(core.SuspensionUnsupportedContext, "only a node's body can %s", what)
}

// SaveSession saves the session in mid-invoke (sessions §6.2): the current state merged with u, the update that the
// node is about to return. The save is committed when SaveSession returns, even if the invocation fails later. The node
// handles an error. An invocation without a session saves nothing. A subgraph has no session (sessions §9): in its
// nodes SaveSession is invalid.
func SaveSession(ctx context.Context, u Update) error {
	scope := scopeFrom(ctx)
	if scope == nil || scope.middleware {
		return unsupported("save the session")
	}
	scope.mu.Lock()
	defer scope.mu.Unlock()
	if scope.closed {
		return unsupported("save the session")
	}
	nr := scope.node
	if len(nr.graph.path) > 0 {
		return core.Errorf(core.Invalid, "only a node of the outermost graph can save the session")
	}
	merged, fail := nr.state.merge(u)
	if fail != nil {
		return fail
	}
	if !nr.graph.seg.sessioned() {
		return nil
	}
	return nr.graph.seg.save(ctx, merged, core.SaveOptions{Explicit: true})
}

// propagate adds this graph to the suspension that the node returned. The attempt's end is reported once the pause is
// stored.
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

// suspend stores the paused invocation and its session, together or not at all (suspension §8.6), and only then reports
// that the node suspended.
func (seg *segment) suspend(ctx context.Context, susp *suspension) Result {
	state := susp.levels[len(susp.levels)-1].state
	res := Result{
		Status: Suspended, State: state, Node: susp.path[len(susp.path)-1], Namespace: susp.path,
		Descriptor: clone(susp.descriptor),
	}
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
		Descriptor: clone(susp.descriptor), Graph: seg.g.name, GraphVersion: seg.g.version,
		SchemaVersion: seg.g.schemaVersion,
		Type:          recordType, MarkCompleted: !susp.rerun, Step: seg.step, Messages: seg.firstRow,
		Trace: seg.spanContext(ctx),
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

// ownPauses stores the pauses of invocations without a PauseStore in the graph's own memory. It saves the session
// first: if that fails, there is no pause.
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
