// Package evidence records what happens while a case runs: store calls, node bodies, events, spans, log lines and how
// each turn ended. Checks and invariants read nothing else.
package evidence

import (
	"context"
	"errors"
	"slices"
	"time"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// Patience is the time limit of everything that has no limit of its own.
const Patience = 20 * time.Second

// Case is the evidence of one case.
type Case struct {
	Graph *graph.Graph // nil: it did not compile
	Mode  harness.Mode // of the harness, if there is one

	HasSessions, HasPauses bool     // the stores that the graph has
	Conversation           bool     // the schema declares graph.Messages
	Projected              []string // session_state.fields; nil = full state
	Version                string   // of the schema
	Outer                  []string // fields of the case's own graph
	Nodes                  map[string]bool
	Inner                  map[string][]string // fields of the subgraphs, by name
	Markers                []Marker

	Turns         []*Turn
	Migrations    []string         // that were started, each "from->to"
	Subscriptions []core.Suspended // what the harness registered
}

// Marker is a text that a middleware of the fixture writes, and the node that it wraps.
type Marker struct {
	Node, Before, After string
}

// Kind is the origin of a turn.
type Kind string

// The kinds.
const (
	Invocation   Kind = "invocation"
	Transmission Kind = "transmission"
	Send         Kind = "send"
	Signal       Kind = "signal"
	Registration Kind = "registration" // the graph did not compile, so nothing ran
)

// Invoked is one call of Graph.Invoke.
type Invoked struct {
	Invocation graph.Invocation
	Result     graph.Result
}

// Turn is the evidence of one invocation, transmission, send or signal.
type Turn struct {
	Name          string
	Node          *fixture.Node
	Kind          Kind
	Session       core.SessionID
	Given         core.SessionID     // the session that the fixture names
	Message       *core.Message      // of a send
	Signal        *chat.Signal       // of a turn that resumes an invocation
	ResumedRecord *core.PausedRecord // the record that a signal is for, as it was before
	Invoked       []Invoked          // the calls of Graph.Invoke; none of a chat harness, which makes its own
	Path          harness.Path
	Status        graph.Status
	Place         []string       // where it suspended or failed: the path of nodes, the outermost graph's first
	StartState    map[string]any // the outermost state when the first node started; nil if none did
	State         map[string]any // the outermost state when the turn ended; nil where there is none
	Outcome       core.Outcome   // of a chat harness
	Err           error
	Category      core.Category
	Bucket        core.Bucket
	Replies       []core.Message
	Pending       []core.Message
	Reply         *core.Message
	Descriptor    *core.Descriptor
	ID            core.InvocationID
	Retries       int // by the product
	Response      *harness.Response

	Subscribed    int // registrations during the turn
	Before, After *Stored
	Activity
	Drained      graph.Drained
	DrainTook    time.Duration
	DrainLimit   time.Duration
	Took         time.Duration
	PausedRecord *core.PausedRecord // the turn's own record, once it was over

	ErrorExpected bool
}

// At returns the node at which the turn suspended or failed; "" for neither.
func (t *Turn) At() string {
	if len(t.Place) == 0 {
		return ""
	}
	return t.Place[len(t.Place)-1]
}

// Settle records the result of an invocation.
func (t *Turn) Settle(in graph.Invocation, res graph.Result) {
	t.Invoked = append(t.Invoked, Invoked{Invocation: in, Result: res})
	t.ID, t.Status, t.Err, t.Place = res.Invocation, res.Status, res.Err, res.Namespace
	if res.Err != nil {
		t.Category = core.CategoryOf(res.Err)
		t.Bucket = core.BucketOf(t.Category)
	}
	if res.Status == graph.Suspended {
		t.Descriptor = &res.Descriptor
	}
	if !res.Entry.State.IsZero() {
		t.StartState = StateFields(res.Entry.State)
	}
	if !res.State.IsZero() {
		t.State = StateFields(res.State)
	}
}

// Result returns the result of the turn's last invocation; nil if there is none.
func (t *Turn) Result() *graph.Result {
	if len(t.Invoked) == 0 {
		return nil
	}
	return &t.Invoked[len(t.Invoked)-1].Result
}

// Entry returns the start of the turn's last invocation; zero if there is none.
func (t *Turn) Entry() graph.Entry {
	if r := t.Result(); r != nil {
		return r.Entry
	}
	return graph.Entry{}
}

// Ran returns the nodes of the case's own graph whose bodies ran, in order.
func (t *Turn) Ran() []string { return t.nodes(NodeRan) }

// Marked returns the markers that middleware wrote, in order.
func (t *Turn) Marked() []string { return t.nodes(Middleware) }

func (t *Turn) nodes(what string) []string {
	out := []string{}
	for _, e := range t.Of(what) {
		out = append(out, e.Node)
	}
	return out
}

// Of returns the entries of these kinds, in order.
func (t *Turn) Of(what ...string) []Entry {
	var out []Entry
	for _, e := range t.Entries {
		if slices.Contains(what, e.What) {
			out = append(out, e)
		}
	}
	return out
}

// Count returns the number of entries of these kinds.
func (t *Turn) Count(what ...string) int { return len(t.Of(what...)) }

// Errored reports whether the turn failed.
func (t *Turn) Errored() bool { return t.Status == graph.Errored }

// Completed reports whether the turn reached END.
func (t *Turn) Completed() bool { return t.Status == graph.Completed }

// Suspended reports whether the turn waits for a signal.
func (t *Turn) Suspended() bool { return t.Status == graph.Suspended }

// Resumed reports whether the turn resumed a paused record.
func (t *Turn) Resumed() bool {
	return t.Entry().Resumed || t.Result() == nil && t.Count(Consume) > 0
}

// Rerun runs an invocation again, without a session or a store.
func (c *Case) Rerun(in graph.Invocation) graph.Result {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return c.Graph.Invoke(ctx, graph.Stores{}, graph.Invocation{Initial: in.Initial})
}

// EventFields returns an event in the fixture language.
func EventFields(e graph.Event) map[string]any {
	out := map[string]any{
		"phase": string(e.Phase), "node_name": e.Node, "namespace": fixture.Plain(e.Namespace), "step": int64(e.Step),
		"attempt_index": int64(e.Attempt), "pre_state": StateFields(e.Pre),
	}
	parents := []any{}
	for _, p := range e.Parents {
		parents = append(parents, StateFields(p))
	}
	out["parent_states"] = parents
	if !e.Post.IsZero() {
		out["post_state"] = StateFields(e.Post)
	}
	if e.Err != nil {
		out["error"] = string(CarrierOf(e.Err))
	}
	if e.FanOutIndex != nil {
		out["fan_out_index"] = int64(*e.FanOutIndex)
	}
	if e.Branch != "" {
		out["branch_name"] = e.Branch
	}
	if e.Descriptor != nil {
		out["descriptor"] = fixture.Plain(e.Descriptor)
	}
	return out
}

// StateFields returns a state as plain values.
func StateFields(s graph.State) map[string]any {
	values, err := s.Encode()
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	return fixture.PlainFields(values)
}

// CarrierOf returns the engine's own category of an error, or the reported one if the error is not the engine's.
func CarrierOf(err error) core.Category {
	var e *graph.Error
	if errors.As(err, &e) {
		return e.Category
	}
	return core.CategoryOf(err)
}
