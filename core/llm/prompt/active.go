package prompt

import "context"

type activeKey struct{}

// Active returns a context for the calls of a model that are made with a rendered prompt (prompt-management §12).
func Active(ctx context.Context, r Result) context.Context {
	return context.WithValue(ctx, activeKey{}, r)
}

// Attributes are those that the span of a model's call has of its prompt (observability §5.5): which one it is, and
// hashes of its texts. nil: the call is made without one.
func Attributes(ctx context.Context) map[string]any {
	r, there := ctx.Value(activeKey{}).(Result)
	if !there {
		return nil
	}
	return map[string]any{
		"openarmature.prompt.name": r.Name, "openarmature.prompt.version": r.Version,
		"openarmature.prompt.label":         r.Label,
		"openarmature.prompt.template_hash": r.TemplateHash, "openarmature.prompt.rendered_hash": r.RenderedHash,
	}
}
