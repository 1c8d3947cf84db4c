package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// busy counts the calls that are made at the same time.
type busy struct {
	mu        sync.Mutex
	now, most int
}

func (b *busy) step(ctx context.Context, r llm.Request) (llm.Response, error) {
	b.count(1)
	defer b.count(-1)
	time.Sleep(time.Second) // the bubble's clock
	return llmtest.Say("yes")(ctx, r)
}

func (b *busy) count(by int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now += by
	b.most = max(b.most, b.now)
}

func TestLimitOfCallsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b busy
		script := llmtest.NewScript()
		for range 7 {
			script.Then(b.step)
		}
		limit := llm.NewLimit(script, 3)
		var all sync.WaitGroup
		start := time.Now()
		for range 7 {
			all.Go(func() {
				if _, err := limit.Complete(t.Context(), question); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if b.most != 3 || time.Since(start) != 3*time.Second {
			t.Errorf("%d at a time, in %s", b.most, time.Since(start))
		}
	})
}

func TestWhoWaitsForAPlaceLeavesWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := llmtest.NewScript(llmtest.Hang(), llmtest.Say("free again"))
		limit := llm.NewLimit(script, 1)
		holder, release := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { _, _ = limit.Complete(holder, question) })
		synctest.Wait()
		stopped, stop := context.WithCancel(t.Context())
		all.Go(func() {
			if _, err := limit.Complete(stopped, question); !errors.Is(err, context.Canceled) || llm.IsTransient(err) {
				t.Error(err)
			}
		})
		late, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if _, err := limit.Complete(late, question); core.CategoryOf(err) != core.ProviderUnavailable {
			t.Error(err)
		}
		stop()
		release()
		all.Wait()
		if r, err := limit.Complete(t.Context(), question); err != nil || r.Message.Content.String() != "free again" {
			t.Errorf("%q, %v", r.Message.Content, err)
		}
	})
}

func TestAnAnswerWithBadCallsIsGivenInsteadOfItsError(t *testing.T) {
	bad := llm.Response{
		Finish: llm.FinishCalls,
		Message: core.Message{
			Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "x", Arguments: []byte("null")}},
		},
	}
	for name, c := range map[string]struct {
		err  error
		want core.Category
	}{
		"arguments that are no object": {core.Wrap(core.ProviderInvalidResponse, llm.BadCalls{Response: bad},
			"It can't be used."), ""},
		"nothing in it": {core.Wrap(core.ProviderInvalidResponse, llm.Empty{Response: bad}, "It can't be used."), ""},
		"another fault": {core.Errorf(core.ProviderInvalidResponse, "It can't be read."), core.ProviderInvalidResponse},
	} {
		r, err := llm.WithBadCalls(llmtest.NewScript(llmtest.Fail(c.err))).Complete(t.Context(), question)
		if core.CategoryOf(err) != c.want || err == nil && len(r.Message.ToolCalls) != 1 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
