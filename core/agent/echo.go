package agent

import (
	"context"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Echo compiles the graph that answers "echo: <text>" after a delay, for benchmarks and trials.
// tracer may be nil.
func Echo(delay time.Duration, tracer graph.Tracer) (*graph.Graph, error) {
	return graph.New("echo", Version).
		SchemaVersion(Version).
		Fields(graph.Messages).
		Entry("echo").
		Node("echo", func(ctx context.Context, s graph.State) (graph.Update, error) {
			timer := time.NewTimer(delay)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			said, err := graph.Messages.Get(s).Tail(ctx, 1)
			if err != nil {
				return nil, err
			}
			text := ""
			if len(said) == 1 {
				text = said[0].Content.Own()
			}
			return graph.Update{graph.Messages.Add(core.Message{Role: core.Assistant, Content: core.Text("echo: " + text)})}, nil
		}).
		Edge("echo", graph.END).
		Trace(tracer).
		Compile()
}
