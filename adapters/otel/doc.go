// Package otel exports traces of graphs to OpenTelemetry: spans of invocations and their nodes (openarmature's
// observability §5), and the ids that connect log lines to them (§7).
//
// The span tree: openarmature.invocation, one for each segment of an invocation (from its start or resume to its end or
// suspension). In it is a span for each attempt of a node, named after the node. The span of a subgraph contains those
// of its nodes. The span of a fan-out or of branches contains one for each instance or branch, with its nodes in it.
// The context of a node carries its span. All spans have openarmature.correlation_id, and openarmature.session_id if
// the invocation has a session.
//
// A suspension is not a failure: the node's span and those around it end with status OK and openarmature.outcome =
// "suspended". Only the suspending node's span carries the signal's id and what it waits for. The segment that resumes
// is a trace of its own. Its invocation span has the same invocation id and a link to the one that paused. Days may lie
// between them, and a trace that stays open that long would not be shown.
//
// Spans contain no messages, arguments or tool results, and no texts of errors: of a suspension they have the tool, the
// rule and sizes, of an error its category. With GATEHOUSE_TRACE_CONTENT=true (WithContent) they have the arguments of
// a call that needs an approval, its summary and its metadata, and the texts of errors; messages and tool results
// never. Anything in them that looks like a secret is masked, as in logs.
//
// The spans of invocations, of calls of models and of tools also have the names of OpenTelemetry's conventions for
// generative AI (gen_ai.*, as of 1.41), beside those of openarmature, which fixes the spans' own names.
//
// The provider is always given, never the process's global one; a graph without a Tracer has no cost. Open makes one
// from the standard variables (Config): OTLP over HTTP, sent in batches in the background. If the collector is away,
// its spans are lost and the log has one line about it; turns are not affected.
//
// Decision (2026-11-21): otlptracehttp only, and not autoexport, which also supports gRPC, Prometheus and the console:
// it would add 20 modules and 98 packages to the program (42 against 22 in go.mod, 290 against 192 packages). If the
// environment asks for another exporter or protocol, the log has a line that there are no traces, and the program runs:
// the variable may be meant for other programs.
//
// Decision (2026-11-21): no span around the invocation (optional in harness §4.6). A turn is one invocation here.
// Before and after it there is only a commit, which is in the log.
//
// Decision (2026-11): a graph.Tracer, called synchronously, instead of an observer. Observers receive events later and
// on another goroutine; a span made there would not be in the context of the node, and the log lines and calls of the
// node would not find it.
package otel
