package evidence

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"gatehouse/adapters/otel"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// The kinds of entries.
const (
	Load         = "load"
	Save         = "save"
	ExplicitSave = "explicit save"
	Delete       = "delete"
	List         = "list"
	Pause        = "pause"
	Paused       = "paused"    // a paused record was read by its invocation
	BySignal     = "by signal" // a paused record was read by its signal
	Consume      = "consume"
	NodeRan      = "node"
	InnerNodeRan = "inner node" // of a subgraph
	Middleware   = "middleware" // Node is the marker that it wrote
	Migration    = "migration"  // Node is "from->to"
)

// SessionCalls are all calls of a session store.
var SessionCalls = []string{Load, Save, ExplicitSave, Delete, List}

// Entry is a store call, or the run of a node, a middleware or a migration.
type Entry struct {
	What       string
	Node       string
	Seen       int // of a node: the number of messages in its state
	Messages   int // of a node: the number of messages that it returned
	Session    core.SessionID
	Invocation core.InvocationID
	Record     *Stored // the record that was loaded or was to be saved; nil if there is none
}

// Observed is an event that an observer of the fixture received.
type Observed struct {
	Observer string
	Event    graph.Event
	Failed   bool // the observer returned an error, as the fixture asks
}

// Activity is what happened during a turn, each list in order.
type Activity struct {
	Entries  []Entry
	Observed []Observed
	Events   []graph.Event // all events, as the runner's own observer received them
	Heard    []Heard       // typed events, as the collectors received them
	Calls    []ModelCall
	Spans    []*Span
	Logs     []LogLine
}

// Recorder records the activity of a case. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	now   Activity
	first core.InvocationID
	spans *tracetest.InMemoryExporter // nil: the case is not traced
}

// Take returns what happened since the last call.
func (r *Recorder) Take() Activity {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.now
	r.now = Activity{}
	if r.spans != nil {
		out.Spans = trees(r.spans.GetSpans())
		r.spans.Reset()
	}
	return out
}

func (r *Recorder) record(add func(now *Activity)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	add(&r.now)
}

// Add records an entry.
func (r *Recorder) Add(e Entry) {
	r.record(func(now *Activity) { now.Entries = append(now.Entries, e) })
}

// AddObserved records an event that an observer of the fixture received.
func (r *Recorder) AddObserved(o Observed) {
	r.record(func(now *Activity) { now.Observed = append(now.Observed, o) })
}

// Observe is the runner's own observer.
func (r *Recorder) Observe(_ context.Context, e graph.Event) error {
	r.record(func(now *Activity) { now.Events = append(now.Events, e) })
	return nil
}

// IsFirst reports whether an invocation is the first that an observer received an event of.
func (r *Recorder) IsFirst(id core.InvocationID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == "" {
		r.first = id
	}
	return r.first == id
}

// Tracer returns a tracer whose spans are recorded.
func (r *Recorder) Tracer(version string) graph.Tracer {
	r.spans = tracetest.NewInMemoryExporter()
	return otel.NewTracer(trace.NewTracerProvider(trace.WithSyncer(r.spans)), version, otel.WithContent)
}

// Span is a span with its children.
type Span struct {
	Name        string
	Status      string
	Description string
	Attributes  map[string]any
	Children    []*Span
}

// trees sorts spans by their start, each under its parent.
func trees(stubs tracetest.SpanStubs) []*Span {
	slices.SortStableFunc(stubs, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	known := map[string]*Span{}
	for _, s := range stubs {
		out := &Span{
			Name: s.Name, Status: strings.ToUpper(s.Status.Code.String()), Description: s.Status.Description,
			Attributes: map[string]any{},
		}
		for _, a := range s.Attributes {
			out.Attributes[string(a.Key)] = fixture.Plain(a.Value.AsInterface())
		}
		known[s.SpanContext.SpanID().String()] = out
	}
	var roots []*Span
	for _, s := range stubs {
		own := known[s.SpanContext.SpanID().String()]
		if parent := known[s.Parent.SpanID().String()]; parent != nil {
			parent.Children = append(parent.Children, own)
		} else {
			roots = append(roots, own)
		}
	}
	return roots
}

// LogLine is a captured log record.
type LogLine struct {
	Body       string
	Level      string
	Attributes map[string]any
}

// Log returns a logger whose records are captured.
func (r *Recorder) Log() *slog.Logger { return slog.New(otel.LogHandler{Handler: capture{r}}) }

// capture is a slog.Handler that keeps all records.
type capture struct{ r *Recorder }

func (capture) Enabled(context.Context, slog.Level) bool { return true }
func (c capture) WithAttrs([]slog.Attr) slog.Handler     { return c }
func (c capture) WithGroup(string) slog.Handler          { return c }

func (c capture) Handle(_ context.Context, rec slog.Record) error {
	out := LogLine{Body: rec.Message, Level: rec.Level.String(), Attributes: map[string]any{}}
	rec.Attrs(func(a slog.Attr) bool {
		out.Attributes[a.Key] = fixture.Plain(a.Value.Any())
		return true
	})
	c.r.record(func(now *Activity) { now.Logs = append(now.Logs, out) })
	return nil
}
