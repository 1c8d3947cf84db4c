package slack

import (
	"context"
	"time"

	"gatehouse/core"
)

// Sleeping has the platform's waits done by the test.
func (s *Slack) Sleeping(sleep func(context.Context, time.Duration)) { s.sleep = sleep }

// Take takes a body of a kind as either transport does; refused: it was not stored, and is not acknowledged or is told to be broken.
func (s *Slack) Take(ctx context.Context, kind string, body []byte, accept core.Accept) (refused bool) {
	_, v := s.take(ctx, kind, body, accept)
	return v != stored
}

// Forms turns a form into what is taken.
func Forms(body []byte) {
	_, _ = formPayload(body)
	_, _ = formFields(body)
}

// Numbers that tests need.
const (
	FirstRedial = firstRedial
	CrowdedWait = crowdedWait
	GraceTime   = graceTime
	GroupLasts  = groupLasts
	NameLasts   = nameLasts
)

// QueueOf gives the queue of a channel's events.
func QueueOf(channel string) int { return queueOf([]byte(`{"event":{"channel":"` + channel + `"}}`)) }
