package providers

import (
	"cmp"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// mock is the fake server of a case, and the provider that is bound to a model there.
type mock struct {
	server   *llmtest.Server
	provider llm.Provider
	model    string
	bodies   []*fixture.Node    // of the responses, in order; nil where there is none
	chunks   [][]map[string]any // of those that are streams; nil where there is none
	mapping  string
}

// stub is the mapping of a provider that does not stream.
const stub = "streaming_unsupported_stub"

// newMock starts the server that a case, or else its file, declares.
func newMock(root, doc *fixture.Node) *mock {
	mapping := cmp.Or(doc.Get("mapping"), root.Get("mapping"))
	d := cmp.Or(doc.Get("mock_provider"), root.Get("mock_provider"))
	m := &mock{}
	var answers []llmtest.Answer
	for _, item := range d.Get("responses").Items() {
		a := answerOf(item)
		var chunks []map[string]any
		if stream := item.Get("stream_body"); stream != nil {
			a.Events, chunks = chunksOf(stream)
		}
		answers = append(answers, a)
		m.bodies, m.chunks = append(m.bodies, item.Peek("body")), append(m.chunks, chunks)
	}
	textOnly := false
	d.Get("capabilities").Each(func(key string, v *fixture.Node) bool {
		textOnly = textOnly || !v.Flag(true)
		return key == "supports_image_input"
	})
	var err error
	m.mapping = mapping.Text()
	switch name := m.mapping; name {
	case "", "openai", stub:
		m.model = boundModel(doc, m.bodies, "test-model")
		fake := llmtest.NewOpenAI(answers...)
		if health := d.Get("health_endpoint"); health != nil {
			fake.List = func() llmtest.Answer { return healthOf(health) }
			fake.List() // reads its keys, whether it is asked or not
		}
		m.server = &fake.Server
		m.provider, err = openai.New(m.model,
			openai.Config{APIKey: "sk-conformance", BaseURL: fake.URL + "/v1", TextOnly: textOnly})
		if name == stub {
			m.provider = unstreamed{m.provider}
		}
	case "anthropic":
		m.model = boundModel(doc, m.bodies, "claude-test")
		fake := llmtest.NewAnthropic(answers...)
		if health := d.Get("health_endpoint"); health != nil {
			fake.Then(healthOf(health))
		}
		m.server = &fake.Server
		m.provider, err = anthropic.New(m.model,
			anthropic.Config{APIKey: "sk-conformance", BaseURL: fake.URL, TextOnly: textOnly})
	default:
		mapping.Malformed("harness_primitive_missing: there is no mapping %q", name)
	}
	if err != nil {
		m.close()
		doc.Malformed("%v", err)
	}
	m.server.Lenient()
	return m
}

func (m *mock) close() { m.server.Close() }

// answerOf reads a response: a status, headers and a body, or a connection that fails.
func answerOf(d *fixture.Node) llmtest.Answer {
	if failure := d.Get("connection_failure"); failure.Flag(false) {
		return llmtest.Answer{Trouble: llmtest.Drop}
	}
	a := llmtest.Answer{Header: map[string]string{}}
	if status := d.Get("status"); status != nil {
		a.Status = int(status.Number())
	}
	d.Get("headers").All(func(key string, v *fixture.Node) { a.Header[key] = v.Text() })
	switch body := d.Get("body"); {
	case body == nil:
	case body.IsMapping() || body.IsList():
		a.Body = ordered(body)
	default:
		a.Body = []byte(body.Text()) // which need not be JSON
	}
	return a
}

// healthOf reads the answer to the provider's question whether the model is ready. Its path is the fixture's guess at
// ours.
func healthOf(d *fixture.Node) llmtest.Answer {
	d.Get("path").Text()
	return answerOf(d)
}

// boundModel finds the model that a case is bound to.
func boundModel(doc *fixture.Node, bodies []*fixture.Node, other string) string {
	if model := doc.Peek("expected_wire_request").Peek("model"); model != nil {
		return model.Text()
	}
	if calls := doc.Peek("calls"); calls.IsList() {
		for _, c := range calls.Items() {
			if model := c.Peek("expected_wire_request").Peek("model"); model != nil {
				return model.Text()
			}
		}
	}
	for _, b := range bodies {
		if model := b.Peek("model").Name(); model != "" {
			return model
		}
	}
	for _, item := range doc.Peek("mock_provider").Peek("responses").Items() {
		if chunks := item.Peek("stream_body"); chunks.IsList() && len(chunks.Items()) > 0 {
			if model := chunks.Items()[0].Peek("model").Name(); model != "" {
				return model
			}
		}
	}
	return other
}
