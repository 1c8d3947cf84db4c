package llm

import (
	"context"
	"errors"
	"sync/atomic"
)

// StreamRefused is the cause of the error of a call whose answer was to be streamed, and whose receiver refuses that.
type StreamRefused struct {
	Options bool  // only what Request.Bare leaves out
	Err     error // the receiver's refusal
}

// Error is for the log.
func (e StreamRefused) Error() string { return e.Err.Error() }

// Unwrap gives the refusal.
func (e StreamRefused) Unwrap() error { return e.Err }

// Streamed is a Provider whose answers come as streams, so that a call that hangs is noticed by its silence. An
// endpoint that refuses that is asked again at once without, and from then on. It may be used by many goroutines.
type Streamed struct {
	Provider
	refused func(options bool)

	bare, whole atomic.Bool // it refused the options, or any stream
}

// NewStreamed makes a Streamed of a provider. refused hears once of each thing that its endpoint refuses; it may be
// nil.
func NewStreamed(p Provider, refused func(options bool)) *Streamed {
	if refused == nil {
		refused = func(bool) {}
	}
	return &Streamed{Provider: p, refused: refused}
}

// Complete is the provider's.
func (s *Streamed) Complete(ctx context.Context, r Request) (Response, error) {
	for {
		r.Stream, r.Bare = !s.whole.Load(), s.bare.Load()
		answer, err := s.Provider.Complete(ctx, r)
		var refused StreamRefused
		if !r.Stream || !errors.As(err, &refused) || refused.Options && r.Bare {
			return answer, err
		}
		known := &s.whole
		if refused.Options {
			known = &s.bare
		}
		if !known.Swap(true) {
			s.refused(refused.Options)
		}
	}
}
