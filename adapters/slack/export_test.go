package slack

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/socketmode"
	"gatehouse/core"
)

// Sleeping has the platform's waits done by the test.
func (s *Slack) Sleeping(sleep func(context.Context, time.Duration)) { s.sleep = sleep }

// Take takes a body of a kind as either transport does; refused: it was not stored, and is not acknowledged or is told to be broken.
func (s *Slack) Take(ctx context.Context, kind string, body []byte, accept core.Accept) (refused bool) {
	receive := map[string]receiver{"events_api": s.receiveEvent, "interactive": s.receiveInteraction, "slash_commands": s.receiveCommand}[kind]
	_, result := receive(ctx, body, accept)
	return result != chat.Stored
}

// Forms turns a form into what is taken.
func Forms(body []byte) {
	_, _ = formPayload(body)
	_, _ = formFields(body)
}

// Numbers that tests need.
const (
	FirstRedial = chat.FirstRetry
	CrowdedWait = socketmode.CrowdedWait
	GraceTime   = socketmode.GraceTime
	GroupLasts  = groupLifetime
	NameLasts   = nameLifetime
)

// QueueOf returns the queue of a channel's events.
func QueueOf(channel string) int {
	return socketmode.QueueOf([]byte(`{"event":{"channel":"` + channel + `"}}`))
}
