package anthropic

import (
	"math"

	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// readUsage reads the counters (llm-provider §6). One that is missing or malformed is nil and no error; the total, which the API does not
// give, is there only if both others are.
func readUsage(v *strictjson.Value) llm.Usage {
	u := llm.Usage{Prompt: counter(v.Get("input_tokens")), Completion: counter(v.Get("output_tokens"))}
	if u.Prompt != nil && u.Completion != nil && *u.Prompt <= math.MaxInt64-*u.Completion {
		total := *u.Prompt + *u.Completion
		u.Total = &total
	}
	return u
}

// counter is a whole number that is not negative.
func counter(v *strictjson.Value) *int64 {
	if v == nil || v.Kind != strictjson.Number {
		return nil
	}
	n, err := v.Number.Int64()
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
