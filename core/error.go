package core

import (
	"errors"
	"fmt"
	"time"
)

// Error is the one error type that crosses packages. Category decides what happens next, and whether people are shown Message or a
// sentence in its place (Sentence); whoever runs gatehouse reads Message and Err in the log. Categories are compared by type
// (CategoryOf), never by text.
type Error struct {
	Category   Category
	Reason     Category      // picks a sentence that says more than the category's; "" = none does
	Message    string        // a sentence: what happened, and what to do
	RetryAfter time.Duration // for rate limits: how long the other side asks to wait; 0 = unknown
	Err        error         // the cause; may be nil
}

// Error gives the category, the sentence and the cause, for logs.
func (e *Error) Error() string {
	text := string(e.Category)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCategory makes *Error a Categorized error.
func (e *Error) ErrorCategory() Category { return e.Category }

// Categorized is an error with a category. Packages with error types of their own implement it, so that CategoryOf finds it.
type Categorized interface {
	error
	ErrorCategory() Category
}

// Errorf makes an Error whose message is formatted for people. For an error with a cause use Wrap.
func Errorf(c Category, format string, args ...any) *Error {
	return &Error{Category: c, Message: fmt.Sprintf(format, args...)}
}

// Because gives an error the reason that picks its sentence.
func (e *Error) Because(reason Category) *Error {
	e.Reason = reason
	return e
}

// Wrap makes an Error with a cause that is not shown to people.
func Wrap(c Category, err error, format string, args ...any) *Error {
	return &Error{Category: c, Message: fmt.Sprintf(format, args...), Err: err}
}

// CategoryOf walks the chain of causes and gives the outermost category that is not a mere carrier (graph-engine §4): the engine
// wraps a node's error as node_exception, and the node's own category is the one to report. Without any other category the
// carrier's is given; an error with none is Internal; nil is "".
func CategoryOf(err error) Category {
	if err == nil {
		return ""
	}
	if c := reportable(err); c != nil {
		return c.ErrorCategory()
	}
	return Internal
}

// reportable is the link of the chain that CategoryOf reads its category from, nil if no link has one. Its message is the
// upstream diagnostic that a user can act on, without the carrier's wrapping.
func reportable(err error) Categorized {
	var carrier, found Categorized
	walk(err, func(link error) bool {
		c, ok := link.(Categorized) //nolint:errorlint // walk visits every link
		if !ok || c.ErrorCategory() == "" {
			return true
		}
		if !carriers[c.ErrorCategory()] {
			found = c
			return false
		}
		if carrier == nil {
			carrier = c
		}
		return true
	})
	if found != nil {
		return found
	}
	return carrier
}

// carriers wrap an error that has, or may have, a category of its own.
var carriers = map[Category]bool{NodeException: true, EdgeException: true}

// MessageOf is the reportable link's message for people, or "" if there is none.
func MessageOf(err error) string {
	var e *Error
	if c := reportable(err); c != nil && errors.As(error(c), &e) {
		return e.Message
	}
	return ""
}

// ReasonOf is the outermost reason in the chain, "" if there is none.
func ReasonOf(err error) (reason Category) {
	walk(err, func(link error) bool {
		if e, ok := link.(*Error); ok { //nolint:errorlint // walk visits every link
			reason = e.Reason
		}
		return reason == ""
	})
	return reason
}

// RetryAfterOf is the longest RetryAfter in the chain.
func RetryAfterOf(err error) time.Duration {
	var wait time.Duration
	walk(err, func(link error) bool {
		if e, ok := link.(*Error); ok && e.RetryAfter > wait { //nolint:errorlint // walk visits every link
			wait = e.RetryAfter
		}
		return true
	})
	return wait
}

// walk visits every link of the chain, outermost first, both single and joined causes, until visit returns false.
func walk(err error, visit func(error) bool) bool {
	for err != nil {
		if !visit(err) {
			return false
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if !walk(inner, visit) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}
