package llm

import (
	"context"
	"errors"
)

// BadCalls is the cause of a provider_invalid_response in which nothing is wrong but the arguments of calls: they are no object, and null in
// the response.
type BadCalls struct{ Response Response }

// Error is for the log.
func (BadCalls) Error() string { return "a model wrote arguments that are not an object" }

// WithBadCalls is a provider that gives such a response instead of the error, for a caller who tells the model what is wrong with its calls.
func WithBadCalls(p Provider) Provider { return badCalls{p} }

type badCalls struct{ Provider }

// Complete is the provider's.
func (b badCalls) Complete(ctx context.Context, r Request) (Response, error) {
	response, err := b.Provider.Complete(ctx, r)
	var bad BadCalls
	if errors.As(err, &bad) {
		return bad.Response, nil
	}
	return response, err
}
