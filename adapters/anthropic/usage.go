package anthropic

import (
	"math"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// readUsage reads the counters (llm-provider §6). One that is missing or malformed is nil and no error; the total, which the API does not
// give, is there only if both others are.
func readUsage(v *strictjson.Value) llm.Usage {
	u := llm.Usage{Prompt: modelapi.Counter(v, "input_tokens"), Completion: modelapi.Counter(v, "output_tokens")}
	if u.Prompt != nil && u.Completion != nil && *u.Prompt <= math.MaxInt64-*u.Completion {
		total := *u.Prompt + *u.Completion
		u.Total = &total
	}
	return u
}
