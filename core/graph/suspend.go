package graph

import (
	"context"
	"encoding/json"
	"sync"

	"gatehouse/core"
)

// errSuspended is what Suspend returns: nobody can make it, and nothing depends on whether it comes back.
var errSuspended error = suspended{}

type suspended struct{}

func (suspended) Error() string { return "the invocation suspends here; return from the node" }

// halt is a suspension on its way from the node that asked for it outwards to the invocation.
type halt struct {
	descriptor core.Descriptor
	rerun      bool
	attempt    int
	levels     []level // the innermost first
	path       []string
	told       []func(core.Descriptor, error)
}

// level is one graph that halts, at a node.
type level struct {
	r     *run
	node  string
	state State
}

// attempt is the engine's side of one run of a node's body, or of the middleware around it: what Suspend and SaveSession find in
// the context.
type attempt struct {
	visit      *visit
	middleware bool

	mu     sync.Mutex
	asked  *halt
	forced error
	closed bool
}

type attemptKey struct{}

// close ends the attempt and gives the suspension that was asked for, or the error that it must end with.
func (a *attempt) close() (*halt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	return a.asked, a.forced
}

func attemptFrom(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// SuspendOption changes how an invocation goes on after a suspension.
type SuspendOption func(*halt)

// KeepNode leaves the node uncompleted: a resume runs its body again, with the payload overlaid (suspension §3,
// mark_node_completed=false). Without it a resume goes on behind the node.
func KeepNode() SuspendOption { return func(h *halt) { h.rerun = true } }

// Suspend ends the node's attempt and suspends the invocation until a signal resumes it (suspension §3):
//
//	return nil, graph.Suspend(ctx, descriptor)
//
// Once it was called, the attempt is over whatever the node returns, and nothing of the middleware around it runs behind its call
// of next; of two calls the first counts. Outside a node's body it does nothing and gives suspension_in_unsupported_context. From
// middleware, and where a container collects what becomes of its instances, it does so too, and the attempt fails with that error
// whatever else is returned; the node that the middleware wraps does not run. A descriptor without a signal id, or whose metadata
// can't be written as JSON, is refused (invalid) and does not suspend.
func Suspend(ctx context.Context, d core.Descriptor, opts ...SuspendOption) error {
	a := attemptFrom(ctx)
	if a == nil {
		return outside("suspend")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return outside("suspend")
	case a.middleware:
		a.forced = outside("suspend")
		return a.forced
	case a.visit.r.sealed:
		a.forced = core.Errorf(core.SuspensionUnsupportedContext, "nothing can suspend inside a container that collects")
		return a.forced
	case d.SignalID == "":
		return core.Errorf(core.Invalid, "a suspension needs a signal id")
	}
	if _, err := json.Marshal(d.Metadata); err != nil {
		return core.Wrap(core.Invalid, err, "the metadata of a suspension must be JSON")
	}
	if a.asked == nil {
		h := &halt{descriptor: clone(d), attempt: a.visit.attempts - 1}
		for _, o := range opts {
			o(h)
		}
		a.asked = h
	}
	return errSuspended
}

func outside(what string) error {
	return core.Errorf(core.SuspensionUnsupportedContext, "only a node's body can %s", what)
}

// SaveSession saves the session in mid-invoke (sessions §6.2): the state as it will be once u, which the node then returns, is
// merged. It has committed when it returns, whatever becomes of the invocation; an error is the node's to handle. An invocation
// without a session saves nothing. A subgraph has no session (sessions §9): for its nodes it is invalid.
func SaveSession(ctx context.Context, u Update) error {
	a := attemptFrom(ctx)
	if a == nil || a.middleware {
		return outside("save the session")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return outside("save the session")
	}
	v := a.visit
	if len(v.r.path) > 0 {
		return core.Errorf(core.Invalid, "only a node of the outermost graph can save the session")
	}
	merged, fail := v.pre.merge(u)
	if fail != nil {
		return fail
	}
	if !v.r.l.sessioned() {
		return nil
	}
	return v.r.l.save(ctx, merged, core.SaveOptions{Explicit: true})
}
