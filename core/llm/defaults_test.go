package llm_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// TestTheLimitOfAnAnswer: the request's own counts before the one that is set, under the vendor's name of it.
func TestTheLimitOfAnAnswer(t *testing.T) {
	own := int64(7)
	for name, c := range map[string]struct {
		wrap   func(llm.Provider) llm.Provider
		config llm.Config
		most   int64 // 0: none
		extra  string
	}{
		"one that is set": {func(p llm.Provider) llm.Provider { return llm.WithMaxTokens(p, 50) }, llm.Config{}, 50, "null"},
		"the request's":   {func(p llm.Provider) llm.Provider { return llm.WithMaxTokens(p, 50) }, llm.Config{MaxTokens: &own}, 7, "null"},
		"by another name": {func(p llm.Provider) llm.Provider { return llm.WithMaxTokens(llm.WithMaxTokensAs(p, "most"), 50) }, llm.Config{}, 0, `{"most":50}`},
		"the request's by another name": {func(p llm.Provider) llm.Provider { return llm.WithMaxTokensAs(p, "most") },
			llm.Config{MaxTokens: &own, Extra: map[string]json.RawMessage{"user": []byte(`"u"`)}}, 0, `{"most":7,"user":"u"}`},
		"none by another name": {func(p llm.Provider) llm.Provider { return llm.WithMaxTokensAs(p, "most") }, llm.Config{}, 0, "null"},
	} {
		model := llmtest.NewScript(llmtest.Say("yes"))
		r := question
		r.Config = c.config
		if _, err := c.wrap(model).Complete(t.Context(), r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := model.Requests()[0].Config
		extra, err := json.Marshal(got.Extra)
		if err != nil || string(extra) != c.extra || (got.MaxTokens == nil) != (c.most == 0) || c.most > 0 && *got.MaxTokens != c.most {
			t.Errorf("%s: %+v, %s, %v", name, got, extra, err)
		}
		if len(c.config.Extra) > 1 {
			t.Errorf("%s: the request was changed", name)
		}
	}
}
