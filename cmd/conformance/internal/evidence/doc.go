// Package evidence records what happens while a case runs: store calls, node bodies, events, spans, log lines and how each turn
// ended. Checks and invariants read nothing else.
package evidence
