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
// The provider is given, never the process's global one; a graph that is given no Tracer pays nothing.
//
// Decision (2026-11): a graph.Tracer, called while things happen, instead of an observer. Observers hear of events later and on
// another goroutine; a span made there would not be in the context of what the node does, and neither the log lines nor the calls
// of a node would find it.
package otel
