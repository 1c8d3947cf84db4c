package tool

import (
	"context"
	"slices"

	"gatehouse/core"
)

// Source has tools that come, change and go while the program runs. It is safe for concurrent use.
type Source interface {
	// Tools gives the tools of now, each as Prepare returned it; callers do not change the slice.
	Tools() []Tool
	// Missing says why there is now no tool of a name that belongs to the source; nil: the name is not the source's.
	// The error is an *Error for people.
	Missing(name string) error
	// Await waits, for a limited time, until the source knows whether it has a tool of that name.
	Await(ctx context.Context, name string)
}

// Prepare checks a tool as Validate does and readies it for the list of a Source.
func (t Tool) Prepare() (Tool, error) {
	if err := t.Validate(); err != nil {
		return Tool{}, err
	}
	t.compiled, _ = compile(t.Schema) // which Validate has found valid
	return t, nil
}

// prepared reports whether a tool comes from Prepare.
func (t Tool) prepared() bool { return t.Do != nil && (len(t.Schema) == 0 || t.compiled != nil) }

// With returns a registry that also has the tools of the sources, as they are at each call. Where two tools have one
// name, the first counts: a source can't replace a tool of the registry, or of a source before it. A tool that was not
// prepared is left out.
func (r *Registry) With(sources ...Source) *Registry {
	return &Registry{tools: r.tools, sources: append(slices.Clone(r.sources), sources...)}
}

// all gives the tools of now, the sources' after those of the registry.
func (r *Registry) all() []Tool {
	if len(r.sources) == 0 {
		return r.tools
	}
	tools, taken := slices.Clone(r.tools), map[string]bool{}
	for _, t := range r.tools {
		taken[t.Name] = true
	}
	for _, s := range r.sources {
		for _, t := range s.Tools() {
			if !t.prepared() || taken[t.Name] {
				continue
			}
			taken[t.Name] = true
			tools = append(tools, t)
		}
	}
	return tools
}

// missing is the error of a call of a tool that there is not.
func (r *Registry) missing(name string) error {
	for _, s := range r.sources {
		if err := s.Missing(name); err != nil {
			return err
		}
	}
	return core.Errorf(core.ToolUnknown, "There is no tool %q.", name)
}

// await waits until the sources know whether they have a tool of that name.
func (r *Registry) await(ctx context.Context, name string) {
	for _, s := range r.sources {
		s.Await(ctx, name)
	}
}
