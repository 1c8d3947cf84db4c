package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// call is one call and what came of it.
type call struct {
	node     *fixture.Node
	request  llm.Request
	sent     []llmtest.Received // what went over the wire, an item for each attempt
	first    int                // the number of responses that calls before it were given
	spans    []span
	response llm.Response
	err      error

	tokens   []llm.Token
	attempts int // how many there may be
	waits    int // before another attempt

	answered bool // complete returned a response
	expected bool // the error is
}

// span is what is known of an attempt.
type span struct {
	index      int
	attributes map[string]any
	category   core.Category
}

// call makes a call.
func (s *scope) call(d *fixture.Node) *call {
	before := s.mock.server.Calls()
	c := &call{node: d, first: len(before)}
	switch operation := d.Need("operation"); operation.Text() {
	case "ready":
		c.err = s.mock.provider.Ready(s.ctx)
	case "complete":
		c.request = requestOf(d)
		c.request.Stream = d.Get("stream").Flag(false)
		c.request.OnToken = func(t llm.Token) { c.tokens = append(c.tokens, t) }
		config := retryOf(d.Get("retry"))
		config.Model, config.Observe = s.mock.model, c.observe
		c.attempts = config.Attempts
		if wait := config.Wait; wait != nil {
			config.Wait = func(attempt int) time.Duration {
				c.waits++
				return wait(attempt)
			}
		}
		c.response, c.err = llm.NewRetry(s.mock.provider, config).Complete(s.ctx, c.request)
		c.answered = c.err == nil
	default:
		operation.Malformed("there is no operation %q", operation.Text())
	}
	c.sent = s.mock.server.Calls()[len(before):]
	return c
}

func (c *call) observe(ctx context.Context, a llm.Attempt) (context.Context, func(llm.Response, error)) {
	return ctx, func(r llm.Response, err error) {
		c.spans = append(c.spans, span{a.Index, a.Attributes(r, err), core.CategoryOf(err)})
	}
}

// retryOf reads a retry record; without one there is one attempt.
func retryOf(d *fixture.Node) llm.RetryConfig {
	if d.IsNull() {
		return llm.RetryConfig{Attempts: 1}
	}
	c := llm.RetryConfig{Attempts: int(d.Need("max_attempts").Number())}
	if b := d.Get("backoff"); b != nil {
		if kind := b.Need("type"); kind.Text() != "deterministic" {
			kind.Malformed("there is no backoff %q", kind.Text())
		}
		wait := time.Duration(b.Need("seconds").Number() * float64(time.Second))
		c.Wait = func(int) time.Duration { return wait }
	}
	return c
}

// requestOf reads messages, tools, tool_choice and config. Messages may be malformed: the provider must find that.
func requestOf(d *fixture.Node) llm.Request {
	var r llm.Request
	for _, item := range d.Get("messages").Items() {
		var m core.Message
		if err := json.Unmarshal(ordered(item), &m); err != nil {
			item.Malformed("%v", err)
		}
		r.Messages = append(r.Messages, m)
	}
	if tools := d.Get("tools"); !tools.IsNull() {
		for _, item := range tools.Items() {
			t := llm.Tool{Name: item.Need("name").Text(), Description: item.Get("description").Text()}
			if parameters := item.Get("parameters"); parameters != nil {
				t.Parameters = ordered(parameters)
			}
			r.Tools = append(r.Tools, t)
		}
	}
	switch choice := d.Get("tool_choice"); {
	case choice.IsNull():
	case choice.IsMapping():
		r.Choice = llm.Choice{Mode: llm.ChoiceMode(choice.Need("type").Text()), Tool: choice.Need("name").Text()}
	default:
		r.Choice.Mode = llm.ChoiceMode(choice.Text())
	}
	r.Config = configOf(d.Get("config"))
	return r
}

// configOf reads a runtime configuration; a field that is null is not set.
func configOf(d *fixture.Node) (c llm.Config) {
	if d.IsNull() {
		return c
	}
	floats := map[string]**float64{
		"temperature": &c.Temperature, "top_p": &c.TopP, "frequency_penalty": &c.FrequencyPenalty,
		"presence_penalty": &c.PresencePenalty,
	}
	wholes := map[string]**int64{"max_tokens": &c.MaxTokens, "seed": &c.Seed}
	d.Each(func(key string, v *fixture.Node) bool {
		switch {
		case floats[key] != nil && !v.IsNull():
			n := v.Number()
			*floats[key] = &n
		case wholes[key] != nil && !v.IsNull():
			n, ok := v.Value().(int64)
			if !ok {
				v.Malformed("must be a whole number")
			}
			*wholes[key] = &n
		case key == "stop_sequences" && !v.IsNull():
			c.StopSequences = append([]string{}, v.Texts()...)
		case key == "extras" && !v.IsNull():
			c.Extra = map[string]json.RawMessage{}
			v.All(func(key string, extra *fixture.Node) { c.Extra[key] = ordered(extra) })
		}
		return floats[key] != nil || wholes[key] != nil || key == "stop_sequences" || key == "extras"
	})
	return c
}

// ordered gives a value as JSON, its keys in the order of the fixture.
func ordered(d *fixture.Node) json.RawMessage {
	var out bytes.Buffer
	list := func(open, end byte, each func(next func())) {
		out.WriteByte(open)
		first := true
		each(func() {
			if !first {
				out.WriteByte(',')
			}
			first = false
		})
		out.WriteByte(end)
	}
	switch {
	case d.IsMapping():
		list('{', '}', func(next func()) {
			d.All(func(key string, v *fixture.Node) {
				next()
				name, _ := json.Marshal(key) // a text can't fail
				out.Write(append(name, ':'))
				out.Write(ordered(v))
			})
		})
	case d.IsList():
		list('[', ']', func(next func()) {
			for _, item := range d.Items() {
				next()
				out.Write(ordered(item))
			}
		})
	default:
		data, err := json.Marshal(d.Value())
		if err != nil {
			d.Malformed("%v", err)
		}
		out.Write(data)
	}
	return out.Bytes()
}
