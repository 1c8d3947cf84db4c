package prompt

import (
	"cmp"
	"context"
	"time"
)

// Static is a Backend of prompts that do not change.
type Static struct {
	prompts map[key]Prompt
}

type key struct{ name, label string }

var _ Backend = (*Static)(nil)

// NewStatic makes a backend of prompts, each under its name and label; of two under the same, the later one counts.
// They count as fetched now, unless they say when. A missing hash is computed.
func NewStatic(now time.Time, prompts ...Prompt) *Static {
	s := &Static{prompts: map[key]Prompt{}}
	for _, p := range prompts {
		p.Label = cmp.Or(p.Label, DefaultLabel)
		p.TemplateHash = cmp.Or(p.TemplateHash, HashTemplate(p))
		if p.FetchedAt.IsZero() {
			p.FetchedAt = now
		}
		s.prompts[key{p.Name, p.Label}] = p
	}
	return s
}

// Fetch gives the prompt of a name with a label.
func (s *Static) Fetch(ctx context.Context, name, label string) (Prompt, error) {
	label = cmp.Or(label, DefaultLabel)
	if err := ctx.Err(); err != nil {
		return Prompt{}, err
	}
	p, there := s.prompts[key{name, label}]
	if !there {
		return Prompt{}, NotFound(name, label)
	}
	return p, nil
}
