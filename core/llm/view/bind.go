package view

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Bind makes a provider whose signatures are marked on the outside: those of its answers get the mark, and of the messages of a request it is
// shown its own alone. So each provider in a list of models can be asked with one request, whose view was made without
// Options.Provider.
func Bind(name string, p llm.Provider) llm.Provider { return bound{name, p} }

type bound struct {
	name string
	llm.Provider
}

// Complete is the provider's.
func (b bound) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	o := Options{Provider: b.name}
	shown := make([]core.Message, 0, len(r.Messages))
	for _, m := range r.Messages {
		if m.Role == core.Assistant {
			m, _ = o.assistant(m)
		}
		shown = append(shown, m)
	}
	r.Messages = shown
	answer, err := b.Provider.Complete(ctx, r)
	answer.Message = Mark(b.name, answer.Message)
	return answer, err
}
