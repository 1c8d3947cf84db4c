package llm

import (
	"context"
	"errors"
)

// BadCalls is the cause of a provider_invalid_response in which nothing is wrong but the arguments of calls: they are
// no object, and null in the response.
type BadCalls struct{ Response Response }

// Error is for the log.
func (BadCalls) Error() string { return "a model wrote arguments that are not an object" }

// Empty is the cause of a provider_invalid_response of an answer in which nothing is wrong but that there is nothing to
// read and no call in it.
type Empty struct{ Response Response }

// Error is for the log.
func (Empty) Error() string { return "a model gave an answer with nothing in it" }

// WithBadCalls is a provider that gives the response instead of the errors BadCalls and Empty, for a caller who tells
// the model what is wrong.
func WithBadCalls(p Provider) Provider { return badCalls{p} }

type badCalls struct{ Provider }

// Complete is the provider's.
func (b badCalls) Complete(ctx context.Context, r Request) (Response, error) {
	response, err := b.Provider.Complete(ctx, r)
	var bad BadCalls
	if errors.As(err, &bad) {
		return bad.Response, nil
	}
	var empty Empty
	if errors.As(err, &empty) {
		return empty.Response, nil
	}
	return response, err
}
