// Package otel tells OpenTelemetry what a graph does: spans of invocations and of what is inside them (openarmature's observability
// §5), and the ids that a log line needs to be found with them (§7).
//
// The span tree: openarmature.invocation, one for each leg; in it a span for each attempt of a node, named after the node; in the
// span of a subgraph those of its nodes; in that of a fan-out or of branches one for each instance or branch, and in it its nodes.
// What a node calls finds its span in the context. All carry openarmature.correlation_id, and openarmature.session_id where the
// invocation is bound to a session, and only there.
//
// A suspension is no failure: the node's span and those around it end with status OK and openarmature.outcome = "suspended"; the
// suspending node's alone carries the signal's id and metadata. The leg that resumes is a trace of its own, whose invocation span
// has the same invocation id and a link to the one that paused: days may lie between, and a trace that stays open as long would be
// seen by nobody.
//
// What looks like a secret is masked, as it is in logs. Neither what people say nor what tools give is in a span, but for what an
// approval is asked on: the call's arguments stand in the metadata of its pause.
//
// The provider is given, never the process's global one; a graph that is given no Tracer pays nothing. Open makes one from the
// standard variables (Config): OTLP over HTTP, sent in batches beside the turns. A collector that is away costs its spans and
// one line of the log, never a turn.
//
// Decision (2026-11-21): otlptracehttp alone, and not autoexport, which also speaks gRPC, Prometheus and the console: it would bring
// 20 modules and 98 packages more into the program (42 against 22 in go.mod, 290 against 192 packages). Another exporter or protocol
// that the environment asks for is not spoken, and the log says so; the program runs, for the variable may be meant for others.
//
// Decision (2026-11-21): no span around the invocation (harness §4.6 has it optional). A turn is one invocation here; what comes
// before and after is a commit each, and the log has it.
//
// Decision (2026-11): a graph.Tracer, called while things happen, instead of an observer. Observers hear of events later and on
// another goroutine; a span made there would not be in the context of what the node does, and neither the log lines nor the calls
// of a node would find it.
package otel
