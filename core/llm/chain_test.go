package llm_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

func because(c, reason core.Category) llmtest.Step {
	return llmtest.Fail(core.Errorf(c, "no").Because(reason))
}

// chained makes a chain of scripts, which asks a model again after ten seconds.
func chained(c llm.ChainConfig, scripts ...*llmtest.Script) *llm.Chain {
	c.Wait = func() time.Duration { return 10 * time.Second }
	links := make([]llm.Link, len(scripts))
	for i, s := range scripts {
		links[i].Provider = s
	}
	return llm.NewChain(c, links[0], links[1:]...)
}

func repeated(step llmtest.Step) []llmtest.Step { return slices.Repeat([]llmtest.Step{step}, 9) }

// TestAChainAsksAsOftenAsMayBe: the requests that each model got, the time, and what is told.
func TestAChainAsksAsOftenAsMayBe(t *testing.T) {
	const invalid = core.ProviderInvalidRequest
	down, yes := fails(core.ProviderUnavailable), llmtest.Say("yes")
	for name, c := range map[string]struct {
		models [][]llmtest.Step
		asked  []int
		took   time.Duration
		want   core.Category // "": an answer
	}{
		"an answer": {[][]llmtest.Step{{yes}, {yes}}, []int{1, 0}, 0, ""},
		"one that is down": {
			[][]llmtest.Step{repeated(down)}, []int{2}, 10 * time.Second, core.ProviderUnavailable,
		},
		"two": {
			[][]llmtest.Step{repeated(down), repeated(down)}, []int{2, 2}, 10 * time.Second, core.ProviderUnavailable,
		},
		"three": {
			[][]llmtest.Step{repeated(down), repeated(down), repeated(down)}, []int{2, 1, 1}, 10 * time.Second,
			core.ProviderUnavailable,
		},
		"five": {[][]llmtest.Step{
			repeated(down), repeated(down), repeated(down), repeated(down), {yes},
		}, []int{1, 1, 1, 1, 0}, 0, core.ProviderUnavailable},
		"comes back":           {[][]llmtest.Step{{down, yes}}, []int{2}, 10 * time.Second, ""},
		"the next one answers": {[][]llmtest.Step{{down}, {yes}}, []int{1, 1}, 0, ""},
		"refused credentials":  {[][]llmtest.Step{{fails(core.ProviderAuthentication)}, {yes}}, []int{1, 1}, 0, ""},
		"no such model":        {[][]llmtest.Step{{fails(core.ProviderInvalidModel)}, {yes}}, []int{1, 1}, 0, ""},
		"a request it refuses": {[][]llmtest.Step{{fails(invalid)}, {yes}}, []int{1, 1}, 0, ""},
		"no images": {
			[][]llmtest.Step{{fails(core.ProviderUnsupportedContent)}, {yes}}, []int{1, 1}, 0, "",
		},
		"an answer of no form": {[][]llmtest.Step{{fails(core.ProviderInvalidResponse)}, {yes}}, []int{1, 1}, 0, ""},
		"too long for it": {
			[][]llmtest.Step{{because(invalid, core.ConversationTooLong)}, {yes}}, []int{1, 1}, 0, "",
		},
		"one is down, one small": {
			[][]llmtest.Step{repeated(down), {because(invalid, core.ConversationTooLong)}}, []int{2, 1},
			10 * time.Second, invalid,
		},
		"its quota is used up": {
			[][]llmtest.Step{{because(core.ProviderRateLimit, core.QuotaUsedUp)}, {yes}}, []int{1, 1}, 0, "",
		},
		"no quota anywhere": {
			[][]llmtest.Step{{because(core.ProviderRateLimit, core.QuotaUsedUp)}}, []int{1}, 0, core.ProviderRateLimit,
		},
		"a garbled call": {
			[][]llmtest.Step{{because(core.ProviderInvalidResponse, core.AnswerGarbled), yes}}, []int{2}, 0, "",
		},
		"the person's to mend": {
			[][]llmtest.Step{{because(invalid, core.AnswerDeclined)}, {yes}}, []int{1, 0}, 0, invalid,
		},
		"a fault of ours": {
			[][]llmtest.Step{{llmtest.Fail(errors.New("no"))}, {yes}}, []int{1, 0}, 0, core.Internal,
		},
		"both for good": {[][]llmtest.Step{
			{fails(core.ProviderAuthentication)}, {fails(core.ProviderInvalidModel)},
		}, []int{1, 1}, 0, core.ProviderAuthentication},
		"the second may pass": {
			[][]llmtest.Step{{fails(core.ProviderAuthentication)}, {limited(time.Hour)}}, []int{1, 1}, 0,
			core.ProviderRateLimit,
		},
		"the first may pass": {
			[][]llmtest.Step{{limited(time.Hour)}, {fails(core.ProviderAuthentication)}}, []int{1, 1}, 0,
			core.ProviderRateLimit,
		},
		"asked to wait":         {[][]llmtest.Step{{limited(70 * time.Second), yes}}, []int{2}, 70 * time.Second, ""},
		"asked to wait briefly": {[][]llmtest.Step{{limited(time.Second), yes}}, []int{2}, 10 * time.Second, ""},
		"the shortest wait": {
			[][]llmtest.Step{{limited(time.Minute), yes}, {limited(30 * time.Second), yes}}, []int{1, 2},
			30 * time.Second, "",
		},
		"asked to wait too long": {
			[][]llmtest.Step{{limited(10 * time.Minute), yes}}, []int{1}, 0, core.ProviderRateLimit,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				scripts := make([]*llmtest.Script, len(c.models))
				for i, steps := range c.models {
					scripts[i] = llmtest.NewScript(steps...)
				}
				began := time.Now()
				r, err := chained(llm.ChainConfig{}, scripts...).Complete(t.Context(), question)
				asked := make([]int, len(scripts))
				for i, s := range scripts {
					asked[i] = len(s.Requests())
				}
				if core.CategoryOf(err) != c.want || !slices.Equal(asked, c.asked) || time.Since(began) != c.took ||
					err == nil && r.Message.Content.String() != "yes" {
					t.Errorf("%v after %v requests and %s", err, asked, time.Since(began))
				}
			})
		})
	}
}

// hearsWaits is told how long a chain waits.
type hearsWaits struct {
	core.Deltas
	told *[]time.Duration
}

func (h hearsWaits) Waits(until time.Time) { *h.told = append(*h.told, time.Until(until)) }

func TestAChainTellsWhenItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []time.Duration
		ctx := core.WithDeltas(t.Context(), hearsWaits{told: &told})
		script := llmtest.NewScript(limited(time.Minute), llmtest.Say("yes"), limited(10*time.Minute))
		chain := chained(llm.ChainConfig{}, script)
		if _, err := chain.Complete(ctx, question); err != nil || !slices.Equal(told, []time.Duration{time.Minute}) {
			t.Errorf("%v, told %v", err, told)
		}
		if _, err := chain.Complete(ctx, question); core.RetryAfterOf(err) != 10*time.Minute || len(told) != 1 {
			t.Errorf("%v, told %v", err, told)
		}
		time.Sleep(4 * time.Minute) // nobody is asked meanwhile
		if _, err := chain.Complete(ctx, question); core.RetryAfterOf(err) != 6*time.Minute ||
			core.CategoryOf(err) != core.ProviderRateLimit || len(script.Requests()) != 3 {
			t.Errorf("%v after %d requests", err, len(script.Requests()))
		}
		script.Then(llmtest.Say("yes"))
		time.Sleep(6 * time.Minute)
		if _, err := chain.Complete(ctx, question); err != nil {
			t.Error(err)
		}
	})
}

func TestAChainEndsWithItsContext(t *testing.T) {
	for name, wait := range map[string]bool{"while it asks": false, "while it waits": true} {
		synctest.Test(t, func(t *testing.T) {
			why := errors.New("somebody stopped the turn")
			ctx, stop := context.WithCancelCause(t.Context())
			first := llmtest.NewScript(func(context.Context, llm.Request) (llm.Response, error) {
				if wait {
					time.AfterFunc(time.Second, func() { stop(why) })
				} else {
					stop(why)
				}
				return llm.Response{}, core.Errorf(core.ProviderUnavailable, "no")
			})
			second := llmtest.NewScript(fails(core.ProviderUnavailable))
			_, err := chained(llm.ChainConfig{}, first, second).Complete(ctx, question)
			if err == nil || wait && !errors.Is(err, why) || (second.Left() == 0) != wait {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestAModelThatKeepsFailingIsAskedByOneCallAtATime, until it answers.
func TestAModelThatKeepsFailingIsAskedByOneCallAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b busy
		up := false
		var mu sync.Mutex
		step := func(ctx context.Context, r llm.Request) (llm.Response, error) {
			answer, err := b.step(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			if !up {
				return llm.Response{}, core.Errorf(core.ProviderUnavailable, "no")
			}
			return answer, err
		}
		script := llmtest.NewScript(slices.Repeat([]llmtest.Step{step}, 100)...)
		chain := chained(llm.ChainConfig{}, script)
		both := func() (failed int) {
			var all sync.WaitGroup
			var counted sync.Mutex
			for range 20 {
				all.Go(func() {
					if _, err := chain.Complete(t.Context(), question); err != nil {
						counted.Lock()
						failed++
						counted.Unlock()
					}
				})
			}
			all.Wait()
			return failed
		}
		for range 2 {
			_, _ = chain.Complete(t.Context(), question)
		}
		b.most = 0
		before := len(script.Requests())
		if failed := both(); failed != 20 || b.most != 1 || len(script.Requests())-before > 4 {
			t.Errorf("%d failed, %d at a time, %d requests", failed, b.most, len(script.Requests())-before)
		}
		mu.Lock()
		up = true
		mu.Unlock()
		if failed := both(); failed > 0 || b.most < 10 {
			t.Errorf("%d failed, %d at a time", failed, b.most)
		}
	})
}

// TestAChainRemembersWhatIsTooLong: a request that is as large as one that was refused is not made again; a smaller one
// is.
func TestAChainRemembersWhatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := core.Wrap(core.ProviderInvalidRequest, llm.TooLong{Most: 700, Err: errors.New("700 tokens")},
			"no").Because(core.ConversationTooLong)
		script := llmtest.NewScript(llmtest.Fail(refusal), llmtest.Say("yes"), llmtest.Say("yes"))
		chain := chained(llm.ChainConfig{}, script)
		large, small := question, question
		large.Estimate, small.Estimate = 2000, 700
		for range 3 {
			_, err := chain.Complete(t.Context(), large)
			if n, ok := llm.Shorter(2000, err); !ok || n != 700 || len(script.Requests()) != 1 {
				t.Errorf("%v: %d tokens, %d requests", err, n, len(script.Requests()))
			}
		}
		if _, err := chain.Complete(t.Context(), small); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour)
		if _, err := chain.Complete(t.Context(), large); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

// TestAnImageThatIsTooLargeSaysNothingOfTexts: a longer request without one is made.
func TestAnImageThatIsTooLargeSaysNothingOfTexts(t *testing.T) {
	script := llmtest.NewScript(because(core.ProviderInvalidRequest, core.ConversationTooLong), llmtest.Say("yes"))
	chain := chained(llm.ChainConfig{}, script)
	picture := core.Block{
		Type: core.ImageBlock, Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.org/a.png"},
	}
	seen := llm.Request{Messages: []core.Message{{Role: core.User, Content: core.Blocks(picture)}}, Estimate: 100}
	if _, err := chain.Complete(t.Context(), seen); core.ReasonOf(err) != core.ConversationTooLong {
		t.Error(err)
	}
	long := question
	long.Estimate = 5000
	if _, err := chain.Complete(t.Context(), long); err != nil {
		t.Error(err)
	}
}

// TestAProviderThatPanicsIsAskedAgain: the model of a call that never returned is not taken for one that is being
// asked.
func TestAProviderThatPanicsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fails(core.ProviderUnavailable)
		script := llmtest.NewScript(down, down, down, func(context.Context, llm.Request) (llm.Response, error) {
			panic("odd")
		}, llmtest.Say("yes"))
		chain := chained(llm.ChainConfig{}, script)
		for range 2 {
			func() {
				defer func() { _ = recover() }()
				_, _ = chain.Complete(t.Context(), question)
			}()
		}
		if r, err := chain.Complete(t.Context(), question); err != nil || r.Message.Content.String() != "yes" {
			t.Errorf("%v after %d requests", err, len(script.Requests()))
		}
	})
}

func TestAChainIsReadyWhenOneIs(t *testing.T) {
	first, second := llmtest.NewScript(), llmtest.NewScript()
	first.SetReady(core.Errorf(core.ProviderAuthentication, "no"))
	chain := chained(llm.ChainConfig{}, first, second)
	if err := chain.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	second.SetReady(core.Errorf(core.ProviderModelNotLoaded, "no"))
	if err := chain.Ready(t.Context()); core.CategoryOf(err) != core.ProviderModelNotLoaded {
		t.Error(err)
	}
}

// TestAPlaceIsWaitedForTwoMinutes at most.
func TestAPlaceIsWaitedForTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, release := context.WithCancel(t.Context())
		limit := llm.NewLimit(llmtest.NewScript(llmtest.Hang()), 1)
		var holder sync.WaitGroup
		holder.Go(func() { _, _ = limit.Complete(ctx, question) })
		synctest.Wait()
		began := time.Now()
		_, err := limit.Complete(t.Context(), question)
		if core.ReasonOf(err) != core.ModelBusy || time.Since(began) != 2*time.Minute ||
			!strings.Contains(err.Error(), "GATEHOUSE_MODEL_CALLS") {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		release()
		holder.Wait()
	})
}

// TestTheCallsOfATurnShareItsBudget: a second wait that there is no time for is told, and nobody waits for nothing.
func TestTheCallsOfATurnShareItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := llmtest.Fail(&core.Error{Category: core.ProviderRateLimit, RetryAfter: 50 * time.Second})
		chain := chained(llm.ChainConfig{}, llmtest.NewScript(busy, llmtest.Say("one"), busy))
		ctx := core.WithTurn(t.Context(), core.Turn{Budget: core.NewBudget(80 * time.Second)})
		began := time.Now()
		if _, err := chain.Complete(ctx, question); err != nil || time.Since(began) != 50*time.Second {
			t.Errorf("the first call: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		_, err := chain.Complete(ctx, question)
		if core.RetryAfterOf(err) != 50*time.Second || time.Since(began) != 0 {
			t.Errorf("the second call: %v after %v", err, time.Since(began))
		}
	})
}
