package prompt

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"gatehouse/core"
)

// Backend fetches prompts from one place (prompt-management §5). It renders nothing. It may be called by many
// goroutines at once.
type Backend interface {
	// Fetch gives the prompt of a name with a label; "" is DefaultLabel. Errors: prompt_not_found (NotFound) if there
	// is none, prompt_store_unavailable (Unavailable) if the place can't be reached.
	Fetch(ctx context.Context, name, label string) (Prompt, error)
}

// Labels says which label of a prompt is fetched where the caller names none (prompt-management §7).
type Labels struct {
	Names   map[string]string // a label for each of some prompts
	Default string            // for the others; "" = DefaultLabel
}

// Resolve gives the label of a prompt: its own, else the default, else DefaultLabel.
func (l Labels) Resolve(name string) string { return cmp.Or(l.Names[name], l.Default, DefaultLabel) }

// Manager fetches prompts from several backends and renders them (prompt-management §6, §9). Its fields are not changed
// once it is in use.
type Manager struct {
	Backends []Backend // in the order in which they are asked
	Labels   Labels
	Now      func() time.Time // when a prompt is rendered
	Log      *slog.Logger     // nil: nothing is logged
}

// Fetch gives the prompt of a name with a label; "" is the label that Labels says. The first backend that answers
// decides, also by prompt_not_found: another one might still have what was withdrawn. Those that can't be reached are
// passed over; if none can, the error is prompt_store_unavailable.
func (m *Manager) Fetch(ctx context.Context, name, label string) (Prompt, error) {
	if label == "" {
		label = m.Labels.Resolve(name)
	}
	var causes []error
	for _, b := range m.Backends {
		p, err := b.Fetch(ctx, name, label)
		if core.CategoryOf(err) != core.PromptStoreUnavailable {
			if err == nil && len(causes) > 0 && m.Log != nil {
				m.Log.Warn("a store of prompts can't be reached; the prompt comes from the next one", "prompt", name,
					"label", label,
					"category", core.PromptStoreUnavailable, "err", errors.Join(causes...))
			}
			return p, err
		}
		causes = append(causes, err)
	}
	return Prompt{}, Unavailable(name, label, errors.Join(causes...))
}

// Render renders a prompt now. The error is prompt_render_error.
func (m *Manager) Render(p Prompt, in Input) (Result, error) {
	r, err := p.Render(in)
	if err == nil {
		r.RenderedAt = m.Now()
	}
	return r, err
}

// Get fetches a prompt and renders it.
func (m *Manager) Get(ctx context.Context, name, label string, in Input) (Result, error) {
	p, err := m.Fetch(ctx, name, label)
	if err != nil {
		return Result{}, err
	}
	return m.Render(p, in)
}
