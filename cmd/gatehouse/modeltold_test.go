package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"gatehouse/adapters/openai"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
)

// TestObserversHearTheModel: an observer of a graph whose node asks the configured model hears the tokens of the
// streamed answer, and then its end.
func TestObserversHearTheModel(t *testing.T) {
	v := vendors["OpenAI"](t)
	v.Then(v.say("Here I am."))
	cfg := settings.Config{Model: settings.Model{Calls: 1, Silence: time.Minute, Chosen: []settings.ChosenModel{
		{
			Name: "one", Vendor: "openai", Model: "gpt-test",
			At: &openai.Config{BaseURL: v.URL + "/v1", APIKey: "sk-test-0123456789"}, Stream: true,
		},
	}}}
	p, err := newProvider(cfg, nil, nil, nil)
	noErr(t, err)
	var said, ended []string // of the one goroutine that delivers; read after the drain
	b := graph.New("asks", "1").Entry("ask").Edge("ask", graph.END).Node("ask",
		func(ctx context.Context, _ graph.State) (graph.Update, error) {
			_, err := p.Complete(ctx,
				llm.Request{Messages: []core.Message{{Role: core.User, Content: core.Text("hi")}}})
			return nil, err
		})
	g, err := b.Observe(graph.Observer{Name: "collector", Hear: func(_ context.Context, r graph.Report) error {
		switch e := r.Event.(type) {
		case llm.TokenEvent:
			said = append(said, e.Text)
		case llm.CompletionEvent:
			ended = append(ended, e.Response.Message.Content.String(), e.Provider, e.Model, r.Node)
		}
		return nil
	}}).Compile()
	noErr(t, err)
	if res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}); res.Err != nil {
		t.Fatal(res.Err)
	}
	g.Drain(t.Context())
	if len(said) == 0 || !slices.Equal(ended, []string{"Here I am.", "openai", "gpt-test", "ask"}) {
		t.Errorf("heard %q, and the end %q", said, ended)
	}
}
