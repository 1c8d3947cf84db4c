// Package evidence records what happens while a case runs: calls of the stores, node bodies, events, spans, log lines and how each
// turn ended. Checks and invariants look at nothing else.
package evidence
