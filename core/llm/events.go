package llm

import (
	"context"

	"github.com/google/uuid"
)

// Call identifies one call of Complete in its events (graph-engine §6). ID is new for each; attempts inside the call
// share it.
type Call struct {
	ID       string
	Provider string
	Model    string // that was asked
}

// TokenEvent is a piece of a streamed answer, LlmTokenEvent. Token.Index counts all pieces of the call from 0, those of
// attempts that failed too.
type TokenEvent struct {
	Call
	Token
}

// CompletionEvent is the end of a call that was answered, LlmCompletionEvent.
type CompletionEvent struct {
	Call
	Request  Request
	Response Response
}

// FailedEvent is the end of a call that was not, LlmFailedEvent: there is no such event of tokens. Err is what Complete
// returns.
type FailedEvent struct {
	Call
	Request Request
	Err     error
}

// Told is a Provider whose calls are told: the tokens as they come and, after them, exactly one CompletionEvent or
// FailedEvent.
type Told struct {
	Provider
	Vendor, Model string // as the events name them
	// hears a TokenEvent, CompletionEvent or FailedEvent, on the goroutine of Complete
	Tell func(context.Context, any)
}

// Complete is the provider's.
func (p Told) Complete(ctx context.Context, r Request) (Response, error) {
	call, asked := Call{uuid.NewString(), p.Vendor, p.Model}, r
	tokens := Tokens{Hear: func(t Token) { p.Tell(ctx, TokenEvent{call, t}) }}
	r.OnToken = func(t Token) {
		tokens.Say(t.Kind, t.Text)
		if asked.OnToken != nil {
			asked.OnToken(t)
		}
	}
	response, err := p.Provider.Complete(ctx, r)
	if err != nil {
		p.Tell(ctx, FailedEvent{call, asked, err})
		return response, err
	}
	p.Tell(ctx, CompletionEvent{call, asked, response})
	return response, nil
}
