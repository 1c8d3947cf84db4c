package slack

import (
	"context"
	"errors"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
)

// inBackground runs do in a goroutine that the end of Run waits for. After the end of Run it does nothing.
func (s *Slack) inBackground(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.background.Go(do)
	}
}

func (s *Slack) jitter(d time.Duration) time.Duration { return chat.Jitter(d, s.Jitter()) }

// warnOnce logs a text the first time only, so that something missing is not logged with every call.
func (s *Slack) warnOnce(text string, args ...any) { s.missing.Warn(s.Log, text, args...) }

// called converts the error of a call to one of core's categories, as adapters/internal/chat lists them, and records whether Slack answers.
func (s *Slack) called(err error) error {
	fault := webapi.Error(err)
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) { // a call that we ended says nothing about Slack
		s.outbound.Record(fault)
	}
	return fault
}
