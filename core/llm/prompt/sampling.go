package prompt

import (
	"encoding/json"
	"math"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core/llm"
)

// sampling reads how a model samples, by the names of prompt-management §3.
func (r reader) sampling(n *yaml.Node) *llm.Config {
	keys := r.entries(n, "sampling", "temperature", "max_tokens", "top_p", "seed", "frequency_penalty", "presence_penalty", "stop_sequences", "extras")
	c := &llm.Config{
		Temperature: r.number(keys["temperature"]), TopP: r.number(keys["top_p"]), FrequencyPenalty: r.number(keys["frequency_penalty"]),
		PresencePenalty: r.number(keys["presence_penalty"]), MaxTokens: r.whole(keys["max_tokens"]), Seed: r.whole(keys["seed"]),
	}
	if stops := keys["stop_sequences"]; stops != nil {
		items, _ := r.list(stops, "stop_sequences")
		for _, item := range items {
			text, _ := r.text(item, "a stop sequence")
			c.StopSequences = append(c.StopSequences, text)
		}
	}
	if extras := keys["extras"]; extras != nil {
		var values map[string]any
		data := []byte("{}")
		err := extras.Decode(&values)
		if err == nil {
			data, err = json.Marshal(values)
		}
		if err == nil {
			err = json.Unmarshal(data, &c.Extra)
		}
		if err != nil {
			r.fault(extras, "write a mapping of what is sent to the vendor as it is", "extras can't be written as JSON: %s", strings.ReplaceAll(err.Error(), "\n", " "))
		}
	}
	return c
}

// number gives a number; nil for a missing key, and after a fault.
func (r reader) number(n *yaml.Node) *float64 {
	if n == nil {
		return nil
	}
	var v float64
	if n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		r.fault(n, "write a number", "%s is no number", shortened(n.Value))
		return nil
	}
	return &v
}

// whole gives a whole number; nil for a missing key, and after a fault.
func (r reader) whole(n *yaml.Node) *int64 {
	if n == nil {
		return nil
	}
	var v int64
	if n.Tag != "!!int" || n.Decode(&v) != nil {
		r.fault(n, "write a whole number", "%s is no whole number", shortened(n.Value))
		return nil
	}
	return &v
}
