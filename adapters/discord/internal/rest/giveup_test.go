package rest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"gatehouse/core"
)

const shortly = 20 * time.Millisecond

// A call that the caller cancels does not show whether Discord can be reached.
func TestCancelledCallDoesNotChangeHealth(t *testing.T) {
	r := restAt(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	before := errors.New("the health of before")
	r.health.Set(before)
	for name, begin := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(shortly, cancel)
			return ctx, cancel
		},
		"too late": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, shortly)
		},
	} {
		ctx, cancel := begin(t.Context())
		if err := r.Call(ctx, http.MethodPost,
			"/channels/1/messages", nil, nil); core.CategoryOf(err) != core.DeliveryInDoubt {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.health.Err(); !errors.Is(err, before) {
			t.Errorf("%s: the health is %v", name, err)
		}
		cancel()
	}
}

func TestUnansweredCallChangesHealth(t *testing.T) {
	r := restAt(t, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
	r.http.Timeout = shortly
	r.health.Set(nil)
	err := r.Call(t.Context(), http.MethodGet, "/users/@me", nil, nil)
	if health := r.health.Err(); core.CategoryOf(health) != core.DeliveryInDoubt {
		t.Errorf("the health is %v after %v", health, err)
	}
}
