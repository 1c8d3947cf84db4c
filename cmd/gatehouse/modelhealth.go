package main

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"gatehouse/core"
)

// modelHealth remembers what the last call of each model tells of it, by the model's name: "" = it answered. It is safe
// for concurrent use.
type modelHealth struct {
	mu   sync.Mutex
	last map[string]core.Category
}

// note takes the result of a call. Only a model that can't be asked is down: a refused request, a limit or a turn that
// was stopped tell nothing.
func (h *modelHealth) note(model string, err error) {
	category := core.CategoryOf(err)
	switch category {
	case "", core.ProviderAuthentication, core.ProviderUnavailable, core.ProviderInvalidModel,
		core.ProviderModelNotLoaded:
	default:
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[model] = category
}

func (h *modelHealth) all() map[string]core.Category {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.last)
}

// notes are lines for /readyz. They do not make it fail: people are told, and everything but the model works.
func (h *modelHealth) notes() (lines []string) {
	all := h.all()
	for _, model := range slices.Sorted(maps.Keys(all)) {
		if all[model] == core.ProviderAuthentication {
			lines = append(lines, fmt.Sprintf("model %s: key refused", model))
		}
	}
	return lines
}
