package prompts

import (
	"maps"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
)

// view is the plain form of a value in which null stands for every key that the fixture expects to be null and that is
// not there.
func view(got any, want *fixture.Node) any { return withNulls(fixture.Plain(got), want.Value()) }

func withNulls(got, want any) any {
	switch g := got.(type) {
	case map[string]any:
		w, _ := want.(map[string]any)
		out := maps.Clone(g)
		for key, v := range w {
			if have, there := g[key]; there {
				out[key] = withNulls(have, v)
			} else if v == nil {
				out[key] = nil
			}
		}
		return out
	case []any:
		w, _ := want.([]any)
		out := append([]any{}, g...)
		for i := range min(len(g), len(w)) {
			out[i] = withNulls(g[i], w[i])
		}
		return out
	}
	return got
}

// fields gives what a call returned by the names of the specification (prompt-management §§3, 4).
func (o *outcome) fields() map[string]any {
	switch {
	case o.prompt != nil:
		p := *o.prompt
		out := map[string]any{
			"name": p.Name, "version": p.Version, "label": p.Label, "template_hash": p.TemplateHash,
			"fetched_at": p.FetchedAt,
			"sampling":   samplingFields(p.Sampling), "template": nil, "chat_template": nil,
		}
		if p.IsChat() {
			out["chat_template"] = segments(p.Chat)
		} else {
			out["template"] = p.Template
		}
		return out
	case o.result != nil:
		r := *o.result
		return map[string]any{
			"name": r.Name, "version": r.Version, "label": r.Label, "template_hash": r.TemplateHash,
			"rendered_hash": r.RenderedHash,
			"messages":      r.Messages, "variables": r.Variables, "fetched_at": r.FetchedAt,
			"rendered_at": r.RenderedAt, "sampling": samplingFields(r.Sampling),
		}
	}
	return nil
}

func segments(chat []prompt.Segment) []any {
	out := []any{}
	for _, s := range chat {
		if s.Role == "" {
			out = append(out, map[string]any{"placeholder": s.Placeholder})
			continue
		}
		out = append(out, core.Message{Role: s.Role, Content: s.Content})
	}
	return out
}

// samplingFields gives those that are set; nil if there is no sampling.
func samplingFields(c *llm.Config) any {
	if c == nil {
		return nil
	}
	out := map[string]any{}
	for key, v := range map[string]*float64{
		"temperature": c.Temperature, "top_p": c.TopP, "frequency_penalty": c.FrequencyPenalty,
		"presence_penalty": c.PresencePenalty,
	} {
		if v != nil {
			out[key] = *v
		}
	}
	for key, v := range map[string]*int64{"max_tokens": c.MaxTokens, "seed": c.Seed} {
		if v != nil {
			out[key] = *v
		}
	}
	if c.StopSequences != nil {
		out["stop_sequences"] = c.StopSequences
	}
	if c.Extra != nil {
		out["extras"] = c.Extra
	}
	return out
}

// field compares one field, by its name or with a suffix of assertions; false if there is no such assertion.
func (s *scope) field(have map[string]any, key string, v *fixture.Node) bool {
	if got, there := have[key]; there {
		// Messages and prompts may have more than is expected of them; sampling and variables are compared whole.
		subset := key == "messages" || key == "chat_template"
		if diff := s.match.Diff(v, view(got, v), subset); diff != "" {
			s.Fault(v, "%s", diff)
		}
		return true
	}
	if name, ok := strings.CutSuffix(key, "_present"); ok {
		if got, there := have[name]; there {
			s.must(v, isPresent(got) == v.Flag(true), "%s is %s", name, fixture.Show(got))
			return true
		}
	}
	if name, ok := strings.CutSuffix(key, "_non_empty_string"); ok {
		if got, there := have[name]; there {
			text, isText := got.(string)
			s.must(v, (isText && text != "") == v.Flag(true), "%s is %s", name, fixture.Show(got))
			return true
		}
	}
	return false
}

func isPresent(got any) bool { plain := fixture.Plain(got); return plain != nil && plain != "" }

// must adds a fault unless ok.
func (s *scope) must(d *fixture.Node, ok bool, format string, args ...any) {
	if !ok {
		s.Fault(d, format, args...)
	}
}
