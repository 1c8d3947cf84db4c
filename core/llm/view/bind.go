package view

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Bind makes a provider whose signatures are marked on the outside: those of its answers get the mark, and of the
// messages of a request it is shown its own alone. name identifies the model, its endpoint and the account: for another
// one of them they are worth nothing. So each provider in a list of models can be asked with one request, whose view
// was made without Options.Provider. One that did not answer last (llm.Request.Last) is shown no thinking: it begins a
// new epoch.
func Bind(name string, p llm.Provider) llm.Provider { return bound{name, p} }

type bound struct {
	name string
	llm.Provider
}

// Complete is the provider's.
func (b bound) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	r.Messages = shownTo(b.name, r.Messages, r.Last != "" && r.Last != b.name)
	answer, err := b.Provider.Complete(ctx, r)
	answer.By = b.name
	answer.Message = Mark(b.name, answer.Message)
	return answer, err
}

// shownTo are messages as a provider is shown them; old: all are of an earlier epoch.
func shownTo(provider string, msgs []core.Message, old bool) []core.Message {
	o := Options{Provider: provider}
	shown := make([]core.Message, 0, len(msgs))
	for _, m := range msgs {
		if m.Role == core.Assistant {
			m, _ = o.assistant(m, old)
		}
		shown = append(shown, m)
	}
	return shown
}

// Old gives messages that were shown as they are shown in a later epoch: without thinking.
func Old(msgs []core.Message) []core.Message { return shownTo("", msgs, true) }
