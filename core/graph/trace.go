package graph

import (
	"context"

	"gatehouse/core"
)

// Tracer makes spans. Unlike an Observer it is called synchronously, on the goroutine of the node, and returns the
// context that the node runs in, so that a log line or a model call inside finds its span. It must neither fail nor
// block.
type Tracer interface {
	// Start begins a span inside the one of ctx; the function ends it, once.
	Start(ctx context.Context, s Span) (context.Context, func(SpanEnd))
	// SpanContext identifies the span of ctx in text form. A paused record stores it, and the resume links to it
	// (Span.Resumes).
	SpanContext(ctx context.Context) string
}

// SpanKind is the kind of work that a span covers.
type SpanKind string

// The kinds of spans.
const (
	SpanInvocation SpanKind = "invocation" // one segment: a resume begins another one
	SpanNode       SpanKind = "node"       // one attempt
	SpanSubgraph   SpanKind = "subgraph"   // one attempt of a node that is a graph
	SpanFanOut     SpanKind = "fan_out"    // one attempt of a fan-out
	SpanInstance   SpanKind = "instance"   // one instance of a fan-out
	SpanBranches   SpanKind = "branches"   // one attempt of parallel branches
	SpanBranch     SpanKind = "branch"     // one branch of them
	SpanModel      SpanKind = "model"      // one attempt of a call of a model, inside a node
	SpanTool       SpanKind = "tool"       // one call of a tool, inside a node; those that are refused among them
)

// Span is the start of a span.
type Span struct {
	Kind        SpanKind
	IDs         IDs
	Name        string   // of the graph, the node or the branch
	Namespace   []string // not of an invocation
	Step        int
	Attempt     int
	FanOutIndex *int
	Branch      string
	Entry       string // of an invocation: its first node
	Resumes     string // of an invocation: the SpanContext of the segment that was paused
}

// SpanEnd is how a span ended: with an error, by a suspension, or successfully. Attributes are texts, lists of them,
// numbers and flags to keep with it; none of them is a text of a conversation.
type SpanEnd struct {
	Err        error
	Suspended  *core.Descriptor
	Attributes map[string]any
}

// StartSpan begins a span of a call inside a node. Without a tracer it makes none.
func StartSpan(ctx context.Context, t Tracer, s Span) (context.Context, func(SpanEnd)) {
	if t == nil {
		return ctx, func(SpanEnd) {}
	}
	s.IDs, _ = InvocationFrom(ctx)
	return t.Start(ctx, s)
}

func (seg *segment) span(ctx context.Context, s Span) (context.Context, func(SpanEnd)) {
	if seg.g.tracer == nil {
		return ctx, func(SpanEnd) {}
	}
	s.IDs = seg.ids
	return seg.g.tracer.Start(ctx, s)
}

func (seg *segment) spanContext(ctx context.Context) string {
	if seg.g.tracer == nil {
		return ""
	}
	return seg.g.tracer.SpanContext(ctx)
}
