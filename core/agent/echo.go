package agent

import (
	"context"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// AtOnce begins a text that Echo answers without its delay: so short turns can be tried beside long ones.
const AtOnce = "at once"

// Echo compiles the graph that answers "echo: <text>" after a delay, for benchmarks and trials.
// tracer may be nil.
func Echo(delay time.Duration, tracer graph.Tracer) (*graph.Graph, error) {
	return graph.New("echo", Version).
		SchemaVersion(Version).
		Fields(graph.Messages).
		Entry("echo").
		Node("echo", func(ctx context.Context, s graph.State) (graph.Update, error) {
			said, err := graph.Messages.Get(s).Tail(ctx, 1)
			if err != nil {
				return nil, err
			}
			text := ""
			if len(said) == 1 {
				text = said[0].Content.Own()
			}
			if !strings.HasPrefix(text, AtOnce) {
				if err := pause(ctx, delay); err != nil {
					return nil, err
				}
			}
			return graph.Update{graph.Messages.Add(
				core.Message{Role: core.Assistant, Content: core.Text("echo: " + text)})}, nil
		}).
		Edge("echo", graph.END).
		Trace(tracer).
		Compile()
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
