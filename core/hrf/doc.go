// Package hrf reads and checks envelopes of the Harmony Response Format (HRF): a list of messages, one of which may hold a workflow in
// HarmonyScript. Parse checks a text by a profile and returns the envelope with its script compiled, or the report of every finding.
// Expressions are in core/hrf/expr, the interpreter in core/hrf/interp, the token form in core/hrf/native.
package hrf
