package llm

import (
	"errors"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// TooLong is the cause of an error whose reason is core.ConversationTooLong: the request has more tokens than the model
// takes.
type TooLong struct {
	Most int   // how many it takes, as it says; 0: it does not say
	Err  error // its words
}

// Error is for the log.
func (t TooLong) Error() string { return t.Err.Error() }

// Unwrap gives its words.
func (t TooLong) Unwrap() error { return t.Err }

// sizeLasts is how long a size is remembered: estimates differ from text to text, and servers are set up anew.
const sizeLasts = time.Hour

// size is the smallest request, as the caller estimates its tokens, that was too long for a model.
type size struct {
	mu    sync.Mutex
	most  int
	err   error // of that request
	until time.Time
}

// learn remembers a request that was too long. One with images is none: they may have been too many bytes, which says
// nothing of texts.
func (s *size) learn(r Request, err error) {
	if core.ReasonOf(err) != core.ConversationTooLong || r.Estimate <= 0 || hasImages(r.Messages) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); r.Estimate < s.most || !now.Before(s.until) {
		s.most, s.err, s.until = r.Estimate, err, now.Add(sizeLasts)
	}
}

// refuses is the error of a request that is known to be too long, without asking the model.
func (s *size) refuses(estimate int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if estimate < s.most || !time.Now().Before(s.until) {
		return nil
	}
	return s.err
}

func hasImages(msgs []core.Message) bool {
	return slices.ContainsFunc(msgs, func(m core.Message) bool {
		return slices.ContainsFunc(m.Content.Blocks(), func(b core.Block) bool { return b.Type == core.ImageBlock })
	})
}

// Shorter is how many tokens, by the caller's estimate, a request may have that is made in place of one of so many
// which was too long: half of it, or what the model says it takes, if that is less. ok is false for any other error.
func Shorter(estimate int, err error) (tokens int, ok bool) {
	if core.ReasonOf(err) != core.ConversationTooLong {
		return 0, false
	}
	var said TooLong
	if errors.As(err, &said) && said.Most > 0 {
		return min(estimate/2, said.Most), true
	}
	return estimate / 2, true
}
