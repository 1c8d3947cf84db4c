package anthropic

import (
	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// readUsage reads the counters (llm-provider §6). input_tokens are those that no cache had; what was read from it and
// written to it was sent, too. A counter that is missing or malformed is nil and no error; the total, which the API
// does not give, is there only if both others are.
func readUsage(v *strictjson.Value) llm.Usage {
	u := llm.Usage{
		Completion: modelapi.Counter(v, "output_tokens"), Cached: modelapi.Counter(v, "cache_read_input_tokens"),
	}
	u.Prompt = modelapi.Sum(modelapi.Counter(v, "input_tokens"), u.Cached,
		modelapi.Counter(v, "cache_creation_input_tokens"))
	if u.Completion != nil {
		u.Total = modelapi.Sum(u.Prompt, u.Completion)
	}
	return u
}
