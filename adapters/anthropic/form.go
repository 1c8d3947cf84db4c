package anthropic

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"sync/atomic"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core/llm"
)

// form is what of a request its receiver takes. A request that is refused for its form is made again at once in another
// one, and what a model has refused once it is not sent again.
type form struct {
	thinking bool // of earlier answers, as it came
	bind     bool // what the API is to do with thinking whose conversation has changed is said: it is left out
	sampling bool // temperature, top_p and top_k
	forced   bool // a choice that demands a call
	most     int64
}

// learned is what a model has refused.
type learned struct {
	bind, sampling, forced atomic.Bool
	most                   atomic.Int64
}

func (p *Provider) form() form {
	return form{
		thinking: !p.learned.bind.Load(), bind: !p.learned.bind.Load(),
		sampling: !p.learned.sampling.Load() && !refusesSampling(p.api.Model),
		forced:   !p.learned.forced.Load() && !refusesForced(p.api.Model),
		most:     p.learned.most.Load(),
	}
}

var (
	aboutBinding  = regexp.MustCompile(`(?i)anthropic-beta|block_binding|thinking-binding`)
	aboutThinking = regexp.MustCompile("(?i)signature|thinking|different conversation")
	aboutSampling = regexp.MustCompile(`(?i)temperature|top_p|top_k`)
	aboutChoice   = regexp.MustCompile(`(?i)tool_choice`)
	aboutMost     = regexp.MustCompile(`(?i)max_tokens|output tokens`)
)

// next is the form in which a refused request is made again; ok is false if there is none. sent is what was refused.
func (p *Provider) next(f form, c modelapi.Complaint, sent payload) (again form, ok bool) {
	if c.Status != http.StatusBadRequest {
		return f, false
	}
	lower, named := c.Below(sent.most)
	switch says := c.Message; {
	case sent.bind && aboutBinding.MatchString(says):
		p.learned.bind.Store(true)
		f.bind, f.thinking = false, false
	case sent.bound && f.thinking && aboutThinking.MatchString(says): // of this conversation, so it is not remembered
		f.thinking = false
	case f.sampling && sent.sampled && aboutSampling.MatchString(says):
		p.learned.sampling.Store(true)
		f.sampling = false
	case f.forced && sent.forced && aboutChoice.MatchString(says):
		p.learned.forced.Store(true)
		f.forced = false
	case named && (f.most == 0 || lower < f.most) && aboutMost.MatchString(says):
		p.learned.most.Store(lower)
		f.most = lower
	default:
		return f, false
	}
	return f, true
}

// Thinking is bound to the conversation before it (platform.claude.com, preserved thinking): without this, one that was
// changed would be refused for good.
const (
	betaHeader   = "Anthropic-Beta"
	bindingBeta  = "thinking-binding-controls-2026-08-01"
	bindingField = "block_binding"
)

// bindThinking has the API leave out thinking that does not fit its conversation any more. It returns the extra
// settings without those of thinking.
func bindThinking(root object, extra map[string]json.RawMessage) map[string]json.RawMessage {
	thinking := object{"type": "adaptive"}
	if own, set := extra["thinking"]; set {
		if json.Unmarshal(own, &thinking) != nil {
			return extra
		}
		extra = maps.Clone(extra)
		delete(extra, "thinking")
	}
	thinking[bindingField] = object{"prefix_mismatch_behavior": "drop_block"}
	root["thinking"] = thinking
	return extra
}

// mark has the vendor keep the beginning of a request: the tools with the system prompt, and all up to the last two
// turns of the user.
func mark(root object) {
	if text, ok := root["system"].(string); ok {
		root["system"] = []object{cached(object{"type": "text", "text": text})}
	}
	turns, _ := root["messages"].([]any)
	for i, left := len(turns)-1, 2; i >= 0 && left > 0; i-- {
		turn := turns[i].(object)
		if turn["role"] != "user" {
			continue
		}
		left--
		blocks, isList := turn["content"].([]object)
		if !isList {
			blocks = []object{{"type": "text", "text": turn["content"]}}
			turn["content"] = blocks
		}
		blocks[len(blocks)-1] = cached(blocks[len(blocks)-1])
	}
}

func cached(block object) object {
	block = maps.Clone(block)
	block["cache_control"] = object{"type": "ephemeral"}
	return block
}

// choice is a tool choice that the model takes: where it can't be made to call, it is asked to decide.
func (f form) choice(c llm.Choice) llm.Choice {
	if !f.forced && (c.Mode == llm.ChooseRequired || c.Mode == llm.ChooseTool) {
		return llm.Choice{Mode: llm.ChooseAuto}
	}
	return c
}
