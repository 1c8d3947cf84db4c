package hrf

import (
	"cmp"
	"fmt"
	"slices"
)

// Code is the layer of a fault (HRF §5.3).
type Code string

// The codes, from the highest layer to the lowest. Each fault has one code.
const (
	EnvelopeFailed Code = "HRF_SCHEMA_ENVELOPE_FAILED"     // the text, or the shape of envelope and messages
	ScriptFailed   Code = "HRF_SCHEMA_SCRIPT_FAILED"       // the shape of the script
	SemanticFailed Code = "HRF_SEMANTIC_VALIDATION_FAILED" // the meaning: roles, channels, termination, blank texts
	ExecutionError Code = "HRF_EXECUTION_ERROR"            // expressions, and what is found while a script runs
)

// Finding is one fault of an envelope, or one warning.
type Finding struct {
	Code    Code   `json:"code"` // of a warning: the layer it belongs to
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do
	Pointer string `json:"pointer"`        // RFC 6901; if it would be very long, that of the nearest value around
	Line    int    `json:"line"`           // from 1
	Column  int    `json:"column"`         // in bytes, from 1
	Rule    string `json:"rule"`           // a stable name of the rule, such as "message.role"
}

// In writes the finding as compilers do, so that editors find its place: FILE:LINE:COLUMN: LABEL: MESSAGE; HINT. The
// label is the code of an error, or the word warning.
func (f Finding) In(file, label string) string {
	text := fmt.Sprintf("%s:%d:%d: %s: %s", file, f.Line, f.Column, label, f.Message)
	if f.Hint != "" {
		text += "; " + f.Hint
	}
	return text
}

// Report is all that Parse found, in the order of the text.
type Report struct {
	Errors   []Finding
	Warnings []Finding
}

// Valid reports whether there is no error.
func (r *Report) Valid() bool { return len(r.Errors) == 0 }

// Err returns all errors as one in HRF's form (HRF §5.3), its details being Errors; nil if there are none.
func (r *Report) Err() *Error {
	for _, code := range []Code{EnvelopeFailed, ScriptFailed, SemanticFailed, ExecutionError} {
		i := slices.IndexFunc(r.Errors, func(f Finding) bool { return f.Code == code })
		if i < 0 {
			continue
		}
		first := r.Errors[i]
		message := fmt.Sprintf("line %d, column %d: %s", first.Line, first.Column, first.Message)
		if more := len(r.Errors) - 1; more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		return &Error{Code: code, Message: message, Details: r.Errors}
	}
	return nil
}

// sort brings the findings into the order of the text.
func (r *Report) sort() {
	for _, list := range [][]Finding{r.Errors, r.Warnings} {
		slices.SortStableFunc(list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
	}
}

// Error is a fault in HRF's form (HRF §5.3). The code is that of the highest layer with a finding.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details"` // of a validation: []Finding; of a run: interp.Details
}

// Error returns code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
