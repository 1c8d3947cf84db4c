package llm_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

var question = llm.Request{Messages: []core.Message{user("hi")}}

func fails(c core.Category) llmtest.Step { return llmtest.Fail(core.Errorf(c, "no")) }

func limited(after time.Duration) llmtest.Step {
	return llmtest.Fail(&core.Error{Category: core.ProviderRateLimit, RetryAfter: after})
}

func TestRetryRepeatsWhatMayPass(t *testing.T) {
	for name, c := range map[string]struct {
		steps  []llmtest.Step
		config llm.RetryConfig
		want   core.Category // "": an answer
		calls  int
		took   time.Duration
	}{
		"an answer": {[]llmtest.Step{llmtest.Say("yes")}, llm.RetryConfig{}, "", 1, 0},
		"unavailable, then well": {
			[]llmtest.Step{fails(core.ProviderUnavailable), llmtest.Say("yes")}, llm.RetryConfig{},
			"", 2, 10 * time.Second,
		},
		"each transient one": {[]llmtest.Step{
			fails(core.ProviderModelNotLoaded), fails(core.ProviderRateLimit), llmtest.Say("yes"),
		}, llm.RetryConfig{}, "", 3, 21 * time.Second},
		"for good": {
			[]llmtest.Step{fails(core.ProviderAuthentication), llmtest.Say("yes")}, llm.RetryConfig{},
			core.ProviderAuthentication, 1, 0,
		},
		"after a transient one": {[]llmtest.Step{
			fails(core.ProviderUnavailable), fails(core.ProviderInvalidRequest), llmtest.Say("yes"),
		}, llm.RetryConfig{}, core.ProviderInvalidRequest, 2, 10 * time.Second},
		"used up": {[]llmtest.Step{
			fails(core.ProviderUnavailable), fails(core.ProviderRateLimit), llmtest.Say("yes"),
		}, llm.RetryConfig{Attempts: 2}, core.ProviderRateLimit, 2, 10 * time.Second},
		"asked to wait": {
			[]llmtest.Step{limited(7300 * time.Millisecond), llmtest.Say("yes")}, llm.RetryConfig{},
			"", 2, 7300 * time.Millisecond,
		},
		"asked to wait longer": {
			[]llmtest.Step{limited(5 * time.Minute), llmtest.Say("yes")}, llm.RetryConfig{}, "", 2, 5 * time.Minute,
		},
		"asked to wait too long": {
			[]llmtest.Step{limited(5 * time.Minute), llmtest.Say("yes")}, llm.RetryConfig{Total: 2 * time.Minute},
			core.ProviderRateLimit, 1, 0,
		},
		"no time for another": {[]llmtest.Step{
			fails(core.ProviderUnavailable), fails(core.ProviderUnavailable), llmtest.Say("yes"),
		}, llm.RetryConfig{Total: 20 * time.Second}, core.ProviderUnavailable, 2, 10 * time.Second},
		"no answer in time": {
			[]llmtest.Step{llmtest.Hang()}, llm.RetryConfig{Total: 20 * time.Second}, core.ProviderUnavailable, 1,
			20 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := llmtest.NewScript(c.steps...)
				c.config.Wait = func(attempt int) time.Duration { return time.Duration(10+attempt) * time.Second }
				start := time.Now()
				_, err := llm.NewRetry(script, c.config).Complete(t.Context(), question)
				if got := core.CategoryOf(err); got != c.want || len(script.Requests()) != c.calls ||
					time.Since(start) != c.took {
					t.Errorf("%v (%s) after %d calls and %s; want %q, %d, %s", err, got, len(script.Requests()),
						time.Since(start), c.want, c.calls, c.took)
				}
			})
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	stopped := errors.New("somebody stopped the turn")
	for name, step := range map[string]llmtest.Step{"in a wait": limited(time.Hour), "in a call": llmtest.Hang()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := llmtest.NewScript(step, llmtest.Say("too late"))
				ctx, stop := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { stop(stopped) })
				start := time.Now()
				_, err := llm.NewRetry(script, llm.RetryConfig{}).Complete(ctx, question)
				if !errors.Is(err, stopped) || time.Since(start) != time.Minute || script.Left() != 1 ||
					llm.IsTransient(err) {
					t.Errorf("%v after %s, %d steps left", err, time.Since(start), script.Left())
				}
			})
		})
	}
}

type inAttempt struct{}

func TestEachAttemptIsObserved(t *testing.T) {
	var spans []map[string]any
	script := llmtest.NewScript(fails(core.ProviderUnavailable),
		func(ctx context.Context, r llm.Request) (llm.Response, error) {
			if ctx.Value(inAttempt{}) != 1 {
				t.Errorf("the attempt runs in %v", ctx.Value(inAttempt{}))
			}
			return llmtest.Say("yes")(ctx, r)
		})
	retry := llm.NewRetry(script, llm.RetryConfig{
		Wait: func(int) time.Duration { return 0 },
		Observe: func(ctx context.Context, a llm.Attempt) (context.Context, func(llm.Response, error)) {
			return context.WithValue(ctx, inAttempt{}, a.Index), func(r llm.Response, err error) {
				spans = append(spans, a.Attributes(r, err))
			}
		}})
	if _, err := retry.Complete(t.Context(), question); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{
			"openarmature.llm.attempt_index": 0, "openarmature.error.category": "provider_unavailable",
			"gen_ai.operation.name": "chat",
		},
		{
			"openarmature.llm.attempt_index": 1, "openarmature.llm.retry_reason": "transient",
			"openarmature.llm.model": "scripted", "openarmature.llm.finish_reason": "stop",
			"openarmature.llm.usage.prompt_tokens": int64(10), "openarmature.llm.usage.completion_tokens": int64(5),
			"openarmature.llm.usage.total_tokens": int64(15),
			"gen_ai.operation.name":               "chat", "gen_ai.response.model": "scripted",
			"gen_ai.response.finish_reasons": []string{"stop"},
			"gen_ai.usage.input_tokens":      int64(10), "gen_ai.usage.output_tokens": int64(5),
		},
	}
	if !reflect.DeepEqual(spans, want) {
		t.Errorf("got %v\nwant %v", spans, want)
	}
}

func TestFullJitterStaysBelowItsLimit(t *testing.T) {
	for attempt, limit := range []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second,
		30 * time.Second,
	} {
		var waits []time.Duration
		for range 200 {
			waits = append(waits, llm.FullJitter()(attempt))
		}
		if slices.Min(waits) < 0 || slices.Max(waits) > limit || slices.Max(waits)-slices.Min(waits) < limit/2 {
			t.Errorf("attempt %d waits between %s and %s; the limit is %s", attempt, slices.Min(waits),
				slices.Max(waits), limit)
		}
	}
}
