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

func TestFallbackAsksTheNextWhoMayAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		first, second llmtest.Step
		want          core.Category // "": the second's answer
		asked         int           // of the second
	}{
		"refused credentials":          {fails(core.ProviderAuthentication), llmtest.Say("yes"), "", 1},
		"unavailable":                  {fails(core.ProviderUnavailable), llmtest.Say("yes"), "", 1},
		"rate limit":                   {fails(core.ProviderRateLimit), llmtest.Say("yes"), "", 1},
		"no such model":                {fails(core.ProviderInvalidModel), llmtest.Say("yes"), "", 1},
		"not loaded":                   {fails(core.ProviderModelNotLoaded), llmtest.Say("yes"), "", 1},
		"no images":                    {fails(core.ProviderUnsupportedContent), llmtest.Say("yes"), "", 1},
		"an answer of no form":         {fails(core.ProviderInvalidResponse), llmtest.Say("yes"), "", 1},
		"an invalid request":           {fails(core.ProviderInvalidRequest), llmtest.Say("yes"), core.ProviderInvalidRequest, 0},
		"a fault of ours":              {llmtest.Fail(errors.New("no")), llmtest.Say("yes"), core.Internal, 0},
		"both for good":                {fails(core.ProviderAuthentication), fails(core.ProviderInvalidModel), core.ProviderAuthentication, 1},
		"the second may pass":          {fails(core.ProviderAuthentication), fails(core.ProviderRateLimit), core.ProviderRateLimit, 1},
		"the first may pass":           {fails(core.ProviderUnavailable), fails(core.ProviderAuthentication), core.ProviderUnavailable, 1},
		"the second finds it invalid ": {fails(core.ProviderUnavailable), fails(core.ProviderInvalidRequest), core.ProviderInvalidRequest, 1},
	} {
		first, second := llmtest.NewScript(c.first), llmtest.NewScript(c.second)
		r, err := llm.NewFallback(first, second).Complete(t.Context(), question)
		if core.CategoryOf(err) != c.want || len(second.Requests()) != c.asked || c.want == "" && r.Message.Content.String() != "yes" {
			t.Errorf("%s: %q, %v; the second was asked %d times", name, r.Message.Content, err, len(second.Requests()))
		}
	}
}

func TestFallbackEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	second := llmtest.NewScript(llmtest.Say("yes"))
	_, err := llm.NewFallback(llmtest.NewScript(func(context.Context, llm.Request) (llm.Response, error) {
		stop()
		return llm.Response{}, core.Errorf(core.ProviderUnavailable, "no")
	}), second).Complete(ctx, question)
	if err == nil || second.Left() != 1 {
		t.Errorf("%v, and the second was asked", err)
	}
}

func TestFallbackIsReadyWhenOneIs(t *testing.T) {
	first, second := llmtest.NewScript(), llmtest.NewScript()
	first.SetReady(core.Errorf(core.ProviderAuthentication, "no"))
	if err := llm.NewFallback(first, second).Ready(t.Context()); err != nil {
		t.Error(err)
	}
	second.SetReady(core.Errorf(core.ProviderModelNotLoaded, "no"))
	if err := llm.NewFallback(first, second).Ready(t.Context()); core.CategoryOf(err) != core.ProviderModelNotLoaded {
		t.Error(err)
	}
}

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
	bad := llm.Response{Finish: llm.FinishCalls, Message: core.Message{Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "x", Arguments: []byte("null")}}}}
	for name, c := range map[string]struct {
		err  error
		want core.Category
	}{
		"arguments that are no object": {core.Wrap(core.ProviderInvalidResponse, llm.BadCalls{Response: bad}, "It can't be used."), ""},
		"another fault":                {core.Errorf(core.ProviderInvalidResponse, "It can't be read."), core.ProviderInvalidResponse},
	} {
		r, err := llm.WithBadCalls(llmtest.NewScript(llmtest.Fail(c.err))).Complete(t.Context(), question)
		if core.CategoryOf(err) != c.want || err == nil && len(r.Message.ToolCalls) != 1 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
