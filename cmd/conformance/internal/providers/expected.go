package providers

import (
	"encoding/json"
	"strings"
	"time"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
)

// expected checks what a call returned.
func (s *scope) expected(c *call, d *fixture.Node) {
	d.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "success":
			c.expected = true // it is reported here
			if v.Flag(true) != (c.err == nil) {
				s.Fault(v, "the call returned %v", c.err)
			}
		case "response":
			s.returned(c, v)
		case "raises":
			s.raises(c, v)
		case "raw_check":
			s.raw(c, v.Need("required_keys"))
		case "no_request_issued":
			if v.Flag(true) != (len(c.sent) == 0) {
				s.Fault(v, "%d requests were sent", len(c.sent))
			}
		case "no_token_events_emitted":
			if v.Flag(true) != (len(c.tokens) == 0) {
				s.Fault(v, "%d tokens were told", len(c.tokens))
			}
		case "llm_spans":
			s.spans(c, v)
		case "invariants":
			s.invariants(v, []*call{c})
		default:
			return false
		}
		return true
	})
}

// returned compares a response: the named keys.
func (s *scope) returned(c *call, d *fixture.Node) {
	if !c.answered {
		d.Value()
		s.Fault(d, "the call returned no response: %v", c.err)
		c.expected = true // it is reported
		return
	}
	d.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "message":
			s.message(v, c.response.Message)
		case "finish_reason":
			s.is(v, string(c.response.Finish), false)
		case "usage":
			u := c.response.Usage
			s.is(v,
				map[string]any{"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Total},
				true)
		case "parsed": // a chat's answers are texts; nothing is ever parsed
			if !v.IsNull() {
				s.Fault(v, "nothing is parsed")
			}
		case "raw_check":
			s.raw(c, v.Need("required_keys"))
		default:
			return false
		}
		return true
	})
}

// message compares the named keys of a message. A missing content or list of calls is null.
func (s *scope) message(d *fixture.Node, m core.Message) {
	got := map[string]any{"role": m.Role, "content": nil, "tool_calls": nil, "tool_call_id": nil}
	if !m.Content.IsZero() {
		got["content"] = m.Content
	}
	if len(m.ToolCalls) > 0 {
		got["tool_calls"] = m.ToolCalls
	}
	if m.ToolCallID != "" {
		got["tool_call_id"] = m.ToolCallID
	}
	d.Each(func(key string, v *fixture.Node) bool {
		value, known := got[key]
		if known && key == "content" {
			want, have := shortContent(fixture.Plain(v.Value())), shortContent(fixture.Plain(value))
			if want == "" {
				want = nil
			}
			if diff := fixture.DiffValues(want, have); diff != "" {
				s.Fault(v, "%s", diff)
			}
		} else if known {
			s.is(v, value, true)
		}
		return known
	})
}

// raw requires keys of the vendor's answer, with the values that the server sent.
func (s *scope) raw(c *call, keys *fixture.Node) {
	var got map[string]json.RawMessage
	if err := json.Unmarshal(c.response.Raw, &got); err != nil {
		s.Fault(keys, "raw is not an object: %v", err)
		return
	}
	if chunks := s.streamOf(c); chunks != nil {
		answer := whole(chunks)
		for _, key := range keys.Items() {
			if diff := fixture.DiffValues(answer[key.Text()], got[key.Text()]); diff != "" && key.Text() != "choices" ||
				got[key.Text()] == nil {
				s.Fault(key, "in raw %s", diff)
			}
		}
		return
	}
	sent := s.sentTo(c)
	for _, key := range keys.Items() {
		value, there := got[key.Text()]
		if !there {
			s.Fault(key, "raw has no %q", key.Text())
		} else if diff := fixture.DiffValues(sent.Peek(key.Text()).Value(), value); diff != "" {
			s.Fault(key, "in raw %s", diff)
		}
	}
}

// sentTo is the body that the server answered a call with: the one of its last attempt.
func (s *scope) sentTo(c *call) *fixture.Node {
	last := c.first + len(c.sent) - 1
	if len(c.sent) == 0 || last >= len(s.mock.bodies) || s.mock.bodies[last] == nil {
		c.node.Malformed("there is no response to compare raw with")
	}
	return s.mock.bodies[last]
}

// raises checks the error.
func (s *scope) raises(c *call, d *fixture.Node) {
	c.expected = true
	if c.err == nil {
		d.Value()
		s.Fault(d, "the call did not fail")
		return
	}
	retryAfter := func(v *fixture.Node) {
		if want, got := v.Number(), core.RetryAfterOf(c.err); got != time.Duration(want*float64(time.Second)) {
			s.Fault(v, "it is %s", got)
		}
	}
	d.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "category":
			if got := core.CategoryOf(c.err); v.Text() != string(got) {
				s.Fault(v, "it is %q, not %q (%v)", got, v.Text(), c.err)
			}
		case "message":
			s.says(c, v)
		case "retry_after_seconds", "retry_after":
			retryAfter(v)
		case "carries":
			v.Each(func(key string, carried *fixture.Node) bool {
				known := key == "retry_after_seconds" || key == "retry_after"
				if known {
					retryAfter(carried)
				}
				return known
			})
		default:
			return false
		}
		return true
	})
}

// says requires texts in the words of an error. Each adapter has its own words, so more may stand beside them.
func (s *scope) says(c *call, d *fixture.Node) {
	texts := []*fixture.Node{d}
	if d.IsMapping() {
		d.Each(func(key string, _ *fixture.Node) bool { return key == "contains" })
		texts = []*fixture.Node{d.Need("contains")}
	}
	if texts[0].IsList() {
		texts = texts[0].Items()
	}
	for _, v := range texts {
		if text := v.Text(); text == "" || !strings.Contains(strings.ToLower(c.err.Error()), strings.ToLower(text)) {
			s.Fault(v, "%q is not in %q", text, c.err)
		}
	}
}

// spans compares the spans of the attempts, in order.
func (s *scope) spans(c *call, d *fixture.Node) {
	items := d.Items()
	if len(items) != len(c.spans) {
		s.Fault(d, "there are %d spans, not %d", len(c.spans), len(items))
		d.Value()
		return
	}
	for i, item := range items {
		got := c.spans[i]
		item.Each(func(key string, v *fixture.Node) bool {
			switch key {
			case "attempt_index":
				s.is(v, got.index, false)
			case "attributes":
				s.is(v, got.attributes, true)
			case "attributes_absent":
				for _, name := range v.Texts() {
					if value, there := got.attributes[name]; there {
						s.Fault(v, "%s is %v", name, value)
					}
				}
			case "error_category":
				if v.IsNull() && got.category != "" || !v.IsNull() && v.Text() != string(got.category) {
					s.Fault(v, "it is %q", got.category)
				}
			default:
				return false
			}
			return true
		})
	}
}
