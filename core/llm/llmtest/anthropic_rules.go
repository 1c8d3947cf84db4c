package llmtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

var claudeName = regexp.MustCompile(`^claude-([a-z]+)-(\d+)(?:-(\d))?(?:$|-)`)

// claudeVersion is opus, 5.5 for claude-opus-5-5.
func claudeVersion(model string) (kind string, version float64) {
	m := claudeName.FindStringSubmatch(model)
	if m == nil {
		return "", 0
	}
	version, _ = strconv.ParseFloat(m[2]+"."+m[3]+"0", 64)
	return m[1], version
}

const bindingBeta = "thinking-binding-controls-2026-08-01"

// checkModel checks what newer models refuse: sampling, a forced choice, a budget of thinking, and thinking whose
// conversation has changed.
func (s *Anthropic) checkModel(c *checker, received Received, model string, body *strictjson.Value) {
	checkBreakpoints(c, body)
	kind, version := claudeVersion(model)
	if version >= 5 || kind == "opus" && version >= 4.7 {
		for _, field := range []string{"temperature", "top_p", "top_k"} {
			if body.Get(field) != nil {
				c.fault("", "`%s` is not supported for this model", field)
			}
		}
		if body.Get("thinking") != nil && body.Get("thinking").Get("budget_tokens") != nil {
			c.fault("thinking", "budget_tokens is not supported for this model")
		}
	}
	choice := text(body.Get("tool_choice"), "type")
	if (kind == "opus" && version >= 5.5 || kind == "fable" && version >= 5.1) &&
		(choice == "any" || choice == "tool") {
		c.fault("tool_choice", "forced tool use is not supported for this model")
	}
	binding := body.Get("thinking").Get("block_binding")
	beta := strings.Contains(received.Header.Get("Anthropic-Beta"), bindingBeta)
	switch {
	case s.NoBeta && received.Header.Get("Anthropic-Beta") != "":
		c.fault("anthropic-beta", "Unexpected value(s) %q for the `anthropic-beta` header",
			received.Header.Get("Anthropic-Beta"))
	case binding != nil && !beta:
		c.fault("thinking.block_binding", "Extra inputs are not permitted")
	case binding != nil && text(binding, "prefix_mismatch_behavior") == "drop_block" && !s.Binds:
		return
	}
	checkBound(c, model+" "+received.Header.Get("X-Api-Key"), version, body)
}

// checkBound requires that the thinking of this fake follows what it followed when it was made.
func checkBound(c *checker, who string, version float64, body *strictjson.Value) {
	for i, m := range items(body, "messages") {
		for n, block := range items(m, "content") {
			signature, bound := strings.CutPrefix(text(block, "signature"), "bound+/")
			if !bound {
				continue
			}
			maker, prefix, _ := strings.Cut(signature, "=")
			switch {
			case maker != digest(who):
				c.fault(at(at("messages", i)+".content", n), "Invalid `signature` in `thinking` block")
			case version >= 5.1 && prefix != prefixOf(body, i, n):
				c.fault(at(at("messages", i)+".content", n),
					"this `thinking` block is bound to a different conversation")
			}
		}
	}
}

// issue puts thinking before the answer, if the fake thinks.
func (s *Anthropic) issue(c Received, a Answer) Answer {
	answer := map[string]any{}
	request, err := strictjson.Parse(c.Body)
	if !s.Thinks || err != nil || a.Status >= 300 || a.Events != nil || json.Unmarshal(a.Body, &answer) != nil {
		return a
	}
	all := items(request, "messages")
	last := len(all) // the answer's place; a paused answer is continued in its own
	signature := "bound+/" + digest(text(request, "model")+" "+c.Header.Get("X-Api-Key")) +
		"=" + prefixOf(request, last, 0)
	content, _ := answer["content"].([]any)
	answer["content"] = append([]any{map[string]any{"type": "thinking", "thinking": "", "signature": signature}},
		content...)
	a.Body = encode(answer)
	return a
}

// prefixOf identifies all before a block of a message: the system prompt, the tools, the messages and the blocks. Marks
// of the cache don't count.
func prefixOf(body *strictjson.Value, message, block int) string {
	var all []any
	for _, key := range []string{"system", "tools"} {
		all = append(all, unmarked(body.Get(key)))
	}
	for i, m := range items(body, "messages") {
		content, _ := unmarked(m.Get("content")).([]any)
		if i == message {
			content = content[:block]
		}
		if i > message || i == message && block == 0 {
			break
		}
		all = append(all, text(m, "role"), content)
	}
	return digest(string(encode(all)))
}

// unmarked is a value with its texts as blocks, and without marks of the cache.
func unmarked(v *strictjson.Value) any {
	if v == nil {
		return nil
	}
	if v.Kind == strictjson.String {
		return []any{map[string]any{"type": "text", "text": v.String}}
	}
	list, ok := v.Any().([]any)
	if !ok {
		return v.Any()
	}
	for i, item := range list {
		if block, ok := item.(map[string]any); ok {
			block = maps.Clone(block)
			delete(block, "cache_control")
			list[i] = block
		}
	}
	return list
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
