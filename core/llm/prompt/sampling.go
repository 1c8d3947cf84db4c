package prompt

import (
	"encoding/json"
	"math"

	"gopkg.in/yaml.v3"

	"gatehouse/core/llm"
	"gatehouse/core/strictyaml"
)

// sampling reads how a model samples, by the names of prompt-management §3.
func (r *reader) sampling(n *yaml.Node) *llm.Config {
	keys := r.Values(n, "sampling", "temperature", "max_tokens", "top_p", "seed", "frequency_penalty",
		"presence_penalty", "stop_sequences", "extras")
	c := &llm.Config{
		Temperature: r.number(keys["temperature"]), TopP: r.number(keys["top_p"]),
		FrequencyPenalty: r.number(keys["frequency_penalty"]),
		PresencePenalty:  r.number(keys["presence_penalty"]), MaxTokens: r.whole(keys["max_tokens"]),
		Seed: r.whole(keys["seed"]),
	}
	if stops := keys["stop_sequences"]; stops != nil {
		c.StopSequences = r.Texts(stops, "stop_sequences", "[END]")
	}
	if extras := keys["extras"]; extras != nil {
		text, ok := r.JSON(extras, "extras")
		if ok && json.Unmarshal(text, &c.Extra) != nil {
			r.Fault(extras, "write what is sent to the vendor as it is, as keys and values",
				"extras is %s, not a mapping", strictyaml.Shown(extras))
		}
	}
	return c
}

// number gives a number; nil for a missing key, and after a fault.
func (r *reader) number(n *yaml.Node) *float64 {
	if n == nil {
		return nil
	}
	var v float64
	if n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.Fault(n, "write a number", "%s is no number", strictyaml.Shown(n))
		return nil
	}
	return &v
}

// whole gives a whole number; nil for a missing key, and after a fault.
func (r *reader) whole(n *yaml.Node) *int64 {
	if n == nil {
		return nil
	}
	var v int64
	if n.Tag != "!!int" || n.Decode(&v) != nil {
		r.Fault(n, "write a whole number", "%s is no whole number", strictyaml.Shown(n))
		return nil
	}
	return &v
}
