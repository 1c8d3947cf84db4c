package llm_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// TestTheLimitOfAnAnswer: the request's own counts before the one that is set, under the vendor's name of it.
func TestTheLimitOfAnAnswer(t *testing.T) {
	own, limit := int64(7), int64(50)
	for name, c := range map[string]struct {
		wrap   func(llm.Provider) llm.Provider
		config llm.Config
		most   int64 // 0: none
		extra  string
	}{
		"one that is set": {func(p llm.Provider) llm.Provider {
			return llm.WithDefaults(p,
				llm.Config{MaxTokens: &limit, Extra: map[string]json.RawMessage{"top_k": []byte(`5`)}})
		}, llm.Config{}, 50, `{"top_k":5}`},
		"the request's": {func(p llm.Provider) llm.Provider {
			return llm.WithDefaults(p,
				llm.Config{MaxTokens: &limit, Extra: map[string]json.RawMessage{"top_k": []byte(`5`)}})
		}, llm.Config{MaxTokens: &own}, 7, `{"top_k":5}`},
		"its own extra setting": {func(p llm.Provider) llm.Provider {
			return llm.WithDefaults(p, llm.Config{Extra: map[string]json.RawMessage{"top_k": []byte(`5`)}})
		},
			llm.Config{Extra: map[string]json.RawMessage{"top_k": []byte(`1`)}}, 0, `{"top_k":1}`},
	} {
		model := llmtest.NewScript(llmtest.Say("yes"))
		r := question
		r.Config = c.config
		if _, err := c.wrap(model).Complete(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := model.Requests()[0].Config
		extra, err := json.Marshal(got.Extra)
		if err != nil || string(extra) != c.extra || (got.MaxTokens == nil) != (c.most == 0) ||
			c.most > 0 && *got.MaxTokens != c.most {
			t.Errorf("%s: %+v, %s, %v", name, got, extra, err)
		}
		if len(c.config.Extra) > 1 {
			t.Errorf("%s: the request was changed", name)
		}
	}
}
