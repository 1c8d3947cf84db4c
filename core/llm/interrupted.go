package llm

import (
	"context"
	"errors"
	"fmt"

	"gatehouse/core"
)

// Interrupted gives the error of a call whose context has ended; nil if it has not. A passed deadline is a model that
// did not answer in time: provider_unavailable. Anything else is a turn that is stopped or handed over: it gives the
// context's cause without a category of a provider, and nothing is tried again.
func Interrupted(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return core.Errorf(core.ProviderUnavailable, "The model did not answer in time.")
	}
	return fmt.Errorf("calling the model: %w", context.Cause(ctx))
}
