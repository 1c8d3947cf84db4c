package otel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/mask"
)

// SpecVersion is the version of the specification that the spans follow.
const SpecVersion = "0.109.0"

// implementation is our name in spans.
const implementation = "gatehouse"

// Tracer makes the spans of graphs (graph.Builder.Trace).
type Tracer struct {
	tracer  trace.Tracer
	version string
	content bool // spans carry texts and arguments
}

// Option changes what a Tracer puts into its spans.
type Option func(*Tracer)

// WithContent has spans carry the texts of errors, and the arguments, the summary and the metadata of a suspension,
// with secrets masked. Without it they have names, sizes and categories in place of these.
func WithContent(t *Tracer) { t.content = true }

var _ graph.Tracer = (*Tracer)(nil)

// NewTracer makes a tracer with the given provider. version is the program's.
func NewTracer(p trace.TracerProvider, version string, opts ...Option) *Tracer {
	t := &Tracer{tracer: p.Tracer(implementation, trace.WithInstrumentationVersion(version)), version: version}
	for _, o := range opts {
		o(t)
	}
	return t
}

// Start begins a span.
func (t *Tracer) Start(ctx context.Context, s graph.Span) (context.Context, func(graph.SpanEnd)) {
	opts := []trace.SpanStartOption{trace.WithAttributes(t.attributes(s)...)}
	name := s.Name
	switch s.Kind {
	case graph.SpanTool:
		name = "gatehouse.tool.call"
	case graph.SpanInvocation:
		name = "openarmature.invocation"
		resumed := w3c.Extract(context.Background(), propagation.MapCarrier{traceparent: s.Resumes})
		if paused := trace.SpanContextFromContext(resumed); paused.IsValid() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: paused}))
		}
	}
	if s.Kind == graph.SpanModel {
		opts = append(opts, trace.WithSpanKind(trace.SpanKindClient))
	}
	ctx, span := t.tracer.Start(ctx, name, opts...)
	isNode := s.Kind == graph.SpanNode
	var once sync.Once
	return ctx, func(e graph.SpanEnd) { once.Do(func() { t.end(span, e, isNode) }) }
}

func (t *Tracer) attributes(s graph.Span) []attribute.KeyValue {
	a := []attribute.KeyValue{attribute.String("openarmature.correlation_id", s.IDs.Correlation)}
	if s.IDs.Session != "" {
		a = append(a, attribute.String("openarmature.session_id", string(s.IDs.Session)))
	}
	if s.Kind == graph.SpanInvocation {
		if s.IDs.Session != "" {
			a = append(a, attribute.String("gen_ai.conversation.id", string(s.IDs.Session)))
		}
		return append(a,
			attribute.String("gen_ai.operation.name", "invoke_agent"),
			attribute.String("openarmature.invocation_id", string(s.IDs.Invocation)),
			attribute.String("openarmature.graph.entry_node", s.Entry),
			attribute.String("openarmature.graph.spec_version", SpecVersion),
			attribute.String("openarmature.implementation.name", implementation),
			attribute.String("openarmature.implementation.version", t.version),
		)
	}
	switch s.Kind {
	case graph.SpanModel:
		return a
	case graph.SpanTool:
		return append(a, attribute.String("gatehouse.tool.name", s.Name),
			attribute.String("gen_ai.operation.name", "execute_tool"),
			attribute.String("gen_ai.tool.name", s.Name), attribute.String("gen_ai.tool.type", "function"))
	}
	a = append(a, attribute.StringSlice("openarmature.node.namespace", s.Namespace))
	if s.Kind != graph.SpanInstance && s.Kind != graph.SpanBranch {
		a = append(a,
			attribute.String("openarmature.node.name", s.Name),
			attribute.Int("openarmature.node.step", s.Step),
			attribute.Int("openarmature.node.attempt_index", s.Attempt),
		)
	}
	if s.FanOutIndex != nil {
		a = append(a, attribute.Int("openarmature.node.fan_out_index", *s.FanOutIndex))
	}
	if s.Branch != "" {
		a = append(a, attribute.String("openarmature.node.branch_name", s.Branch))
	}
	return a
}

// attributeOf is a text, a list of them, a number or a flag as an attribute.
func attributeOf(key string, value any) attribute.KeyValue {
	switch v := value.(type) {
	case int:
		return attribute.Int(key, v)
	case int64:
		return attribute.Int64(key, v)
	case bool:
		return attribute.Bool(key, v)
	case []string:
		return attribute.StringSlice(key, v)
	}
	return attribute.String(key, fmt.Sprint(value))
}

// end ends a span. Only a node's span carries the signal that a suspension waits for.
func (t *Tracer) end(span trace.Span, e graph.SpanEnd, isNode bool) {
	defer span.End()
	for key, value := range e.Attributes {
		span.SetAttributes(attributeOf(key, value))
	}
	switch {
	case e.Err != nil:
		category := string(core.CategoryOf(e.Err))
		span.SetAttributes(attribute.String("openarmature.error.category", category),
			attribute.String("error.type", category))
		if shown := errors.New(category); t.content {
			// the cause goes to the log only
			span.RecordError(fmt.Errorf("%w: %s", shown, mask.Text(core.MessageOf(e.Err))))
		} else {
			span.RecordError(shown)
		}
		span.SetStatus(codes.Error, category)
		return
	case e.Suspended != nil:
		span.SetAttributes(attribute.String("openarmature.outcome", "suspended"))
		if isNode {
			span.SetAttributes(attribute.String("openarmature.suspension.signal_id", string(e.Suspended.SignalID)))
			if t.content {
				span.SetAttributes(contentOf(e.Suspended)...)
			} else {
				span.SetAttributes(outlineOf(e.Suspended)...)
			}
		}
	}
	span.SetStatus(codes.Ok, "")
}

// The attributes of a suspension.
const (
	metadataKey = "openarmature.suspension.metadata"
	approvalKey = "openarmature.suspension.approval"
)

// contentOf returns all of a suspension.
func contentOf(d *core.Descriptor) []attribute.KeyValue {
	all := flat(metadataKey, masked(d.Metadata))
	if d.Approval != nil {
		secret := slices.Clone(d.Approval.Call.Secret)
		for i, pointer := range secret {
			secret[i] = "/call/arguments" + pointer
		}
		all = append(all, flat(approvalKey, masked(d.Approval, secret...))...)
	}
	return all
}

// outlineOf returns what a suspension is about, without anything that a person, a model or a tool wrote. Not even the
// digest of the arguments: few possible ones could be guessed by it.
func outlineOf(d *core.Descriptor) []attribute.KeyValue {
	var all []attribute.KeyValue
	if len(d.Metadata) > 0 {
		text, _ := json.Marshal(d.Metadata) // a value that can't be marshalled was refused earlier
		all = append(all, attribute.Int(metadataKey+"_bytes", len(text)))
	}
	if a := d.Approval; a != nil {
		all = append(all, attribute.String(approvalKey+".call.tool", mask.Text(a.Call.Tool)),
			attribute.String(approvalKey+".call.risk", string(a.Call.Risk)),
			attribute.Int(approvalKey+".call.arguments_bytes", len(a.Call.Arguments)),
			attribute.Int(approvalKey+".call.summary_bytes", len(a.Call.Summary)),
			attribute.String(approvalKey+".rule.name", a.Rule.Name),
			attribute.String(approvalKey+".rule.verdict", string(a.Rule.Verdict)))
	}
	return all
}

// masked returns a value as a JSON object without secrets, and without the values at these JSON pointers: a collector
// counts as a log (law 8).
func masked(m any, secret ...string) map[string]any {
	text, err := json.Marshal(m)
	if err != nil {
		return nil // can't happen: such a value was refused earlier
	}
	dec := json.NewDecoder(bytes.NewReader(mask.JSON(text, secret...)))
	dec.UseNumber()
	var out map[string]any
	_ = dec.Decode(&out) // m is an object, so this can't fail
	return out
}

// flat returns the scalars of a mapping. Those of inner mappings have names joined with dots. Lists and nulls are left
// out.
func flat(prefix string, m map[string]any) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, k := range slices.Sorted(maps.Keys(m)) {
		key := prefix + "." + k
		switch v := m[k].(type) {
		case string:
			out = append(out, attribute.String(key, v))
		case bool:
			out = append(out, attribute.Bool(key, v))
		case json.Number:
			if n, err := v.Int64(); err == nil {
				out = append(out, attribute.Int64(key, n))
			} else if f, err := v.Float64(); err == nil {
				out = append(out, attribute.Float64(key, f))
			}
		case map[string]any:
			out = append(out, flat(key, v)...)
		}
	}
	return out
}

// SpanContext returns the span of ctx in the form of W3C trace context.
func (t *Tracer) SpanContext(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return carrier[traceparent]
}

// w3c reads and writes a span in the form of W3C trace context, under the key traceparent.
var w3c propagation.TraceContext

const traceparent = "traceparent"
