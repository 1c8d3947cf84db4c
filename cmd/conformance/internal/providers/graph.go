package providers

import (
	"context"
	"encoding/json"
	"net/http"

	"gatehouse/adapters/openai"
	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// The names under which a graph's model is told to observers.
const (
	graphVendor = "openai"
	graphModel  = "gpt-test"
)

// Graph is the model of the nodes of a graph: mock_llm answers their calls at once, mock_llm_stream those that ask for
// a stream.
type Graph struct {
	atOnce, streamed served
	chunks           [][]map[string]any // of the streams, in order
}

// served is a fake server, and the provider bound to it.
type served struct {
	server   *llmtest.OpenAI
	provider llm.Provider
}

func serve(answers ...llmtest.Answer) (served, error) {
	fake := llmtest.NewOpenAI(answers...)
	fake.Lenient()
	p, err := openai.New(graphModel,
		openai.Config{APIKey: "sk-conformance", BaseURL: fake.URL + "/v1", API: openai.Chat})
	return served{fake, p}, err
}

// NewGraph starts the servers that a case declares.
func NewGraph(doc *fixture.Node) *Graph {
	var g Graph
	var atOnce, streamed []llmtest.Answer
	for _, item := range doc.Get("mock_llm").Items() {
		a := answerOf(item)
		if item.Has("choices") { // the body alone
			a.Body = ordered(item)
		}
		atOnce = append(atOnce, a)
	}
	for _, item := range doc.Get("mock_llm_stream").Items() {
		a, chunks := streamOf(item)
		streamed, g.chunks = append(streamed, a), append(g.chunks, chunks)
	}
	var err, other error
	g.atOnce, err = serve(atOnce...)
	g.streamed, other = serve(streamed...)
	if err != nil || other != nil {
		g.Close()
		doc.Malformed("%v, %v", err, other)
	}
	return &g
}

// Close ends the servers.
func (g *Graph) Close() {
	g.atOnce.server.Close()
	g.streamed.server.Close()
}

// streamOf reads the chunks of one answer. {error: {status}} is how it breaks off: before the first chunk with the
// status itself, else with an error inside the stream.
func streamOf(d *fixture.Node) (llmtest.Answer, []map[string]any) {
	var chunks []map[string]any
	a := llmtest.Answer{Header: map[string]string{}}
	for _, item := range d.Items() {
		failure := item.Get("error")
		if failure == nil {
			chunk, _ := fixture.Plain(json.RawMessage(ordered(item))).(map[string]any)
			chunk["model"], chunk["object"] = graphModel, "chat.completion.chunk"
			chunks = append(chunks, chunk)
			a.Events = append(a.Events, llmtest.Event{Data: string(encoded(chunk))})
			continue
		}
		status := int(failure.Need("status").Number())
		fault := encoded(map[string]any{"error": map[string]any{"message": http.StatusText(status), "code": status}})
		if a.Events == nil {
			return llmtest.Answer{Status: status, Body: fault}, nil
		}
		a.Events = append(a.Events, llmtest.Event{Data: string(fault)})
		return a, chunks
	}
	a.Events = append(a.Events, llmtest.Event{Data: "[DONE]"})
	return a, chunks
}

// Call reads a calls_llm directive; the result makes its call, which the node's observers hear.
func (g *Graph) Call(d *fixture.Node) func(ctx context.Context) (evidence.ModelCall, error) {
	r, retries, on := requestOf(d), retryOf(d.Get("retry")), g.atOnce
	r.Stream = d.Get("stream").Flag(false)
	if r.Stream {
		on = g.streamed
	}
	told := llm.Told{
		Provider: llm.NewRetry(on.provider, retries), Vendor: graphVendor, Model: graphModel, Tell: graph.Emit,
	}
	return func(ctx context.Context) (evidence.ModelCall, error) {
		c := evidence.ModelCall{Request: r, AtOnce: func(chunks []map[string]any) (llm.Response, error) {
			return again(ctx, r, chunks)
		}}
		before := len(on.server.Calls())
		var err error
		c.Response, err = told.Complete(ctx, r)
		c.Failed = err != nil
		if after := len(on.server.Calls()); r.Stream {
			c.Chunks = g.chunks[min(before, len(g.chunks)):min(after, len(g.chunks))]
		}
		return c, err
	}
}

// again is the response where the same answer does not come as a stream.
func again(ctx context.Context, r llm.Request, chunks []map[string]any) (llm.Response, error) {
	s, err := serve(llmtest.Answer{Body: encoded(whole(chunks))})
	if err != nil {
		s.server.Close()
		return llm.Response{}, err
	}
	defer s.server.Close()
	r.Stream = false
	return s.provider.Complete(context.WithoutCancel(ctx), r)
}

// encoded is the JSON of what was read from JSON.
func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
