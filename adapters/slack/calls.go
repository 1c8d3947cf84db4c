package slack

import (
	"context"
	"errors"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
)

// inBackground does something that only the end of Run waits for. After that nothing is begun.
func (s *Slack) inBackground(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.background.Go(do)
	}
}

func (s *Slack) jitter(d time.Duration) time.Duration { return chat.Jitter(d, s.Jitter()) }

// warnOnce logs something that is missing, and that would else be logged with every call.
func (s *Slack) warnOnce(text string, args ...any) { s.missing.Warn(s.Log, text, args...) }

// called is the error of a call with one of core's categories, as adapters/internal/chat lists them. It notes whether Slack answers.
func (s *Slack) called(err error) error {
	fault := webapi.Error(err)
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) { // a call that we ended tells little of Slack
		s.outbound.Record(fault)
	}
	return fault
}
