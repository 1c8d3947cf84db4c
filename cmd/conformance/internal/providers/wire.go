package providers

import (
	"bytes"
	"encoding/json"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
)

// wire checks what a call sent.
func (s *scope) wire(c *call, d *fixture.Node) {
	if want := d.Get("expected_wire_request"); want != nil {
		value := want.Value()
		if len(c.sent) == 0 {
			s.Fault(want, "no request was sent")
		}
		for _, got := range c.sent { // each attempt sends the same
			if diff := fixture.DiffValues(comparable(value), comparable(bodyOf(got.Body))); diff != "" {
				s.Fault(want, "%s", diff)
				break
			}
		}
	}
	if absent := d.Get("expected_wire_request_absent_keys"); absent != nil {
		for _, key := range absent.Items() {
			s.absent(c, key)
		}
	}
	d.Get("expected_wire_request_checks").Each(func(key string, v *fixture.Node) bool {
		field, isAbsent := strings.CutSuffix(key, "_absent")
		if !isAbsent {
			return false
		}
		if len(c.sent) == 0 {
			s.Fault(v, "no request was sent")
		}
		for _, got := range c.sent {
			body, _ := bodyOf(got.Body).(map[string]any)
			if _, there := body[field]; there == v.Flag(true) {
				s.Fault(v, "the request has %q: %v", field, there)
				break
			}
		}
		return true
	})
}

// absent requires that no request has a key; one below the root is written with dots.
func (s *scope) absent(c *call, key *fixture.Node) {
	if len(c.sent) == 0 {
		s.Fault(key, "no request was sent")
	}
	for _, got := range c.sent {
		v := bodyOf(got.Body)
		for part := range strings.SplitSeq(key.Text(), ".") {
			object, _ := v.(map[string]any)
			below, there := object[part]
			if v = below; !there {
				return
			}
		}
		s.Fault(key, "the request has %q", key.Text())
	}
}

// bodyOf decodes a request.
func bodyOf(body []byte) any {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "not JSON: " + string(body)
	}
	return v
}

// comparable gives a request as it is compared: the arguments of calls decoded, since their spacing is free, and a list
// of one text in place of its text, which llm-provider §3.1.1 calls equivalent.
func comparable(v any) any {
	switch v := fixture.Plain(v).(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = comparable(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			text, isText := value.(string)
			var arguments map[string]any
			switch {
			case key == "arguments" && isText && json.Unmarshal([]byte(text), &arguments) == nil:
				out[key] = map[string]any{"as JSON": arguments}
			case key == "content":
				out[key] = comparable(shortContent(value))
			default:
				out[key] = comparable(value)
			}
		}
		return out
	default:
		return v
	}
}

// shortContent is a list of one text block as its text, and any other content as it is.
func shortContent(v any) any {
	list, isList := v.([]any)
	if !isList || len(list) != 1 {
		return v
	}
	block, _ := list[0].(map[string]any)
	text, isText := block["text"].(string)
	if block["type"] != "text" || !isText || len(block) != 2 {
		return v
	}
	return text
}

// bytesIdentical checks that calls sent the same bytes.
func (s *scope) bytesIdentical(d *fixture.Node) {
	if d == nil {
		return
	}
	list := d.Need("calls")
	if len(list.Items()) < 2 {
		list.Malformed("needs two calls to compare")
	}
	var first []byte
	for i, item := range list.Items() {
		n := int(item.Number())
		if n < 0 || n >= len(s.calls) {
			item.Malformed("there is no call %d", n)
		}
		if len(s.calls[n].sent) == 0 {
			s.Fault(item, "the call sent nothing")
			continue
		}
		body := s.calls[n].sent[0].Body
		if i == 0 {
			first = body
		} else if !bytes.Equal(first, body) {
			s.Fault(item, "it sent %s, not %s", body, first)
		}
	}
}
