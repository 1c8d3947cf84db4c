package llm

import (
	"context"

	"gatehouse/core"
)

// Fallback is a Provider that asks a list of them, in order, until one answers. The next one is asked where this one can't answer but
// another may: the credentials are refused, it is unreachable, limited or not loaded (after the attempts that a Retry inside makes), it does
// not know the model, it can't read a kind of content, or its answer can't be read. It is not asked when the request itself is invalid,
// which it would be there too, nor when the context has ended. It holds nothing between calls: each begins with the first.
//
// If all fail, the error is the first that may pass by itself, so that the turn is tried again later; if there is none, the first.
type Fallback struct{ providers []Provider }

// NewFallback makes a Fallback of at least one provider.
func NewFallback(first Provider, others ...Provider) *Fallback {
	return &Fallback{append([]Provider{first}, others...)}
}

var _ Provider = (*Fallback)(nil)

// Complete gives the first answer.
func (p *Fallback) Complete(ctx context.Context, r Request) (response Response, err error) {
	err = p.each(ctx, func(one Provider) error {
		response, err = one.Complete(ctx, r)
		return err
	})
	return response, err
}

// Ready reports whether one of them is ready.
func (p *Fallback) Ready(ctx context.Context) error {
	return p.each(ctx, func(one Provider) error { return one.Ready(ctx) })
}

// each calls the providers until one succeeds or fails in a way that the others would too.
func (p *Fallback) each(ctx context.Context, call func(Provider) error) error {
	var worst error
	for _, one := range p.providers {
		err := call(one)
		if err == nil || !another(err) || ctx.Err() != nil {
			return err
		}
		if worst == nil || !IsTransient(worst) && IsTransient(err) {
			worst = err
		}
	}
	return worst
}

// another reports whether another provider may answer what this one can't.
func another(err error) bool {
	switch core.CategoryOf(err) {
	case core.ProviderAuthentication, core.ProviderInvalidModel, core.ProviderUnsupportedContent, core.ProviderInvalidResponse:
		return true
	}
	return IsTransient(err)
}
