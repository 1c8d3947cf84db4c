package llmtest_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

// TestTheCacheOfEachVendor: what is billed as cached of a request, after others.
func TestTheCacheOfEachVendor(t *testing.T) {
	word := strings.Repeat("x", 4000) // 1000 tokens, and a few of the message around it
	chat := func(model, key string, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"role":"user","content":"%d%s"}`, i, word))
		}
		return fmt.Sprintf(`{"model":%q,"prompt_cache_key":%q,"messages":[%s]}`, model, key, strings.Join(all, ","))
	}
	claude := func(n int, marked ...int) string {
		var all []string
		for i := range n {
			mark := ""
			for _, m := range marked {
				if m == i {
					mark = `,"cache_control":{"type":"ephemeral"}`
				}
			}
			all = append(all, fmt.Sprintf(`{"type":"text","text":"%d%s"%s}`, i, word, mark))
		}
		return `{"model":"claude-test","max_tokens":9,"messages":[{"role":"user","content":[` + strings.Join(all, ",") +
			`]}]}`
	}
	for name, c := range map[string]struct {
		before, then string
		want         int // thousands of tokens
		refused      bool
	}{
		"another model finds any message":   {chat("qwen", "", 3), chat("qwen", "", 2), 2, false},
		"of another key":                    {chat("qwen", "a", 3), chat("qwen", "b", 3), 0, false},
		"gpt-5.6 finds the newest":          {chat("gpt-5.6", "a", 2), chat("gpt-5.6", "a", 3), 2, false},
		"gpt-5.6 finds nothing else":        {chat("gpt-5.6", "a", 3), chat("gpt-5.6", "a", 2), 0, false},
		"gpt-5.6 without a key":             {chat("gpt-5.6", "", 2), chat("gpt-5.6", "", 3), 0, false},
		"Anthropic, marked":                 {claude(3, 1), claude(4, 3), 2, false},
		"Anthropic, without a mark":         {claude(3), claude(4, 3), 0, false},
		"Anthropic, asked without a mark":   {claude(3, 2), claude(4), 0, false},
		"Anthropic, twenty blocks back":     {claude(3, 2), claude(22, 21), 3, false},
		"Anthropic, more than twenty":       {claude(3, 2), claude(23, 22), 0, false},
		"Anthropic, four marks":             {claude(3, 2), claude(5, 0, 2, 3, 4), 3, false},
		"Anthropic, more marks than it has": {claude(3, 2), claude(5, 0, 1, 2, 3, 4), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := &llmtest.NewOpenAI(llmtest.OpenAISay("yes"), llmtest.OpenAISay("yes")).Server,
				"/v1/chat/completions"
			if strings.HasPrefix(name, "Anthropic") {
				s, path = &llmtest.NewAnthropic(llmtest.AnthropicSay("yes"), llmtest.AnthropicSay("yes")).Server,
					"/v1/messages"
			}
			defer s.Close()
			post(t, s, path, "k", c.before)
			post(t, s, path, "k", c.then)
			got := s.Calls()[1]
			if refused := got.Refused != ""; refused != c.refused || got.Cached/1000 != c.want {
				t.Errorf("%d of %d tokens are cached, refused %q", got.Cached, got.Input, got.Refused)
			}
		})
	}
}
