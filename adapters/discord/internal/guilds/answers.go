package guilds

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/memo"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// answers caches Discord's answers by key.
type answers[T any] struct {
	*memo.Memo[answer[T]]
	now func() time.Time
}

// answer is a value, or a refusal, and when it came.
type answer[T any] struct {
	value T
	err   error
	at    time.Time // zero: it is never fresh
}

func newAnswers[T any](limit int, now func() time.Time) answers[T] {
	return answers[T]{memo.New[answer[T]](limit), now}
}

// put stores an answer that has just come.
func (m answers[T]) put(key string, value T) { m.Put(key, answer[T]{value: value, at: m.now()}) }

// get returns an answer of any age, unless it is a refusal.
func (m answers[T]) get(key string) (T, bool) {
	a, ok := m.Get(key)
	return a.value, ok && a.err == nil
}

// getOrAsk returns an answer of any age, or asks for one. It returns a zero value if the object does not exist or the
// bot may not see it. Error: provider_unavailable, which is retryable; what names the object.
func (m answers[T]) getOrAsk(key, what string, ask func() (T, error)) (value T, err error) {
	if known, ok := m.get(key); ok {
		return known, nil
	}
	value, err = m.within(0, key, ask)
	if err == nil || rest.IsGone(err) {
		return value, nil
	}
	return value, core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked about the %s %s.", what, key)
}

// within returns an answer that is younger than age, or asks for one. Temporary errors are not cached.
func (m answers[T]) within(age time.Duration, key string, ask func() (T, error)) (T, error) {
	now := m.now()
	if a, ok := m.Get(key); ok && now.Sub(a.at) < age {
		return a.value, a.err
	}
	value, err := ask()
	if !core.IsTemporary(err) {
		m.Put(key, answer[T]{value, err, now})
	}
	return value, err
}

// get returns a function that reads an endpoint.
func get[T any](ctx context.Context, c *rest.Client, endpoint string) func() (T, error) {
	return func() (value T, err error) {
		err = c.Get(ctx, endpoint, &value)
		return value, err
	}
}
