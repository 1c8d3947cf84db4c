package graph

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"gatehouse/core"
)

// Error is the error of an invocation that fails while it runs (graph-engine §4). It carries the state at the point of
// failure: all that was merged before, nothing of what failed. A node_exception is a carrier: the node's own error is
// its cause, and core.CategoryOf reports the cause's category, if it has one.
type Error struct {
	Category core.Category // node_exception, edge_exception, reducer_error, routing_error, state_validation_error
	Node     string        // the node that raised it or produced the update; "" at entry
	Field    string        // of a reducer_error or state_validation_error
	Reducer  string        // of a reducer_error
	State    State
	Err      error
}

// Error formats the error for logs.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Category))
	if e.Node != "" {
		fmt.Fprintf(&b, " in node %q", e.Node)
	}
	if e.Reducer != "" {
		fmt.Fprintf(&b, ", field %q, reducer %s", e.Field, e.Reducer)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// path are the nodes that the error came through, the outermost graph's first.
func (e *Error) path() []string {
	var out []string
	for {
		if e.Node != "" {
			out = append(out, e.Node)
		}
		var inner *Error
		if !errors.As(e.Err, &inner) {
			return out
		}
		e = inner
	}
}

// ErrorCategory makes *Error a core.Categorized.
func (e *Error) ErrorCategory() core.Category { return e.Category }

// PanicError is the cause of an error where a node, an edge function or a reducer panicked.
type PanicError struct {
	Value any
	Stack []byte
}

// Error gives the value, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap gives the value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func newPanic(v any) *PanicError { return &PanicError{Value: v, Stack: debug.Stack()} }

// catch, deferred, turns a panic into the error.
func catch(err *error) {
	if p := recover(); p != nil {
		*err = newPanic(p)
	}
}

// MigrationError is an error of the migration categories of sessions §7.
type MigrationError struct {
	Category    core.Category // session_state_migration_missing, _failed or _chain_ambiguous
	From, To    string        // versions: of the record and the graph, or of the failing or duplicate migration
	Registered  int           // how many migrations there are
	Description string        // which
	Err         error         // of a migration that failed
}

// Error formats the error for logs.
func (e *MigrationError) Error() string {
	text := fmt.Sprintf("%s: from %q to %q (%d registered: %s)", e.Category, e.From, e.To, e.Registered, e.Description)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *MigrationError) Unwrap() error { return e.Err }

// ErrorCategory makes *MigrationError a core.Categorized.
func (e *MigrationError) ErrorCategory() core.Category { return e.Category }
