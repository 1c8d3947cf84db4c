package llm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// refusing is a provider that refuses the options of a stream, or any stream.
type refusing struct {
	options, whole bool
	asked          []string
}

func (r *refusing) Ready(context.Context) error { return nil }

func (r *refusing) Complete(_ context.Context, q llm.Request) (llm.Response, error) {
	how := map[bool]string{false: "at once", true: "streamed"}[q.Stream]
	if q.Bare {
		how += ", bare"
	}
	r.asked = append(r.asked, how)
	if q.Stream && (r.whole || r.options && !q.Bare) {
		err := core.Errorf(core.ProviderInvalidRequest, "no")
		err.Err = llm.StreamRefused{Options: r.options && !q.Bare, Err: errors.New("400")}
		return llm.Response{}, err
	}
	return llm.Response{}, nil
}

// TestAStreamThatIsRefusedIsNotAskedForAgain: the call is made again at once without it, and it is told once.
func TestAStreamThatIsRefusedIsNotAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		options, whole bool
		first, second  []string
		told           []bool
	}{
		"nothing":     {false, false, []string{"streamed"}, []string{"streamed"}, nil},
		"its options": {true, false, []string{"streamed", "streamed, bare"}, []string{"streamed, bare"}, []bool{true}},
		"any":         {false, true, []string{"streamed", "at once"}, []string{"at once"}, []bool{false}},
		"both": {
			true, true, []string{"streamed", "streamed, bare", "at once, bare"}, []string{"at once, bare"},
			[]bool{true, false},
		},
	} {
		inner := &refusing{options: c.options, whole: c.whole}
		var told []bool
		p := llm.NewStreamed(inner, func(options bool) { told = append(told, options) })
		if _, err := p.Complete(t.Context(), llm.Request{}); err != nil || !slices.Equal(inner.asked, c.first) {
			t.Errorf("%s: %v, asked %q, want %q", name, err, inner.asked, c.first)
		}
		inner.asked = nil
		if _, err := p.Complete(t.Context(), llm.Request{}); err != nil || !slices.Equal(inner.asked, c.second) ||
			!slices.Equal(told, c.told) {
			t.Errorf("%s again: %v, asked %q, want %q; told %v, want %v", name, err, inner.asked, c.second, told,
				c.told)
		}
	}
	quota := core.Errorf(core.ProviderRateLimit, "later")
	if _, err := llm.NewStreamed(failing{quota}, nil).Complete(t.Context(), llm.Request{}); !errors.Is(err, quota) {
		t.Errorf("another error: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Ready(context.Context) error { return f.err }

func (f failing) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, f.err
}
