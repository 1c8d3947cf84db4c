package slack

import (
	"context"
	"net/http"
	"time"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/socketmode"
	"gatehouse/core"
)

// Sleeping replaces the platform's waits with a function of the test.
func (s *Slack) Sleeping(sleep func(context.Context, time.Duration)) { s.sleep = sleep }

// Take handles a body as both transports do. refused: it was not stored.
func (s *Slack) Take(ctx context.Context, kind string, body []byte, accept core.Accept) (refused bool) {
	receive := map[string]receiver{
		"events_api": s.receiveEvent, "interactive": s.receiveInteraction, "slash_commands": s.receiveCommand,
	}[kind]
	_, result := receive(ctx, body, accept)
	return result != inbound.Stored
}

// Forms decodes a form in both ways.
func Forms(body []byte) {
	_, _ = formPayload(body)
	_, _ = formFields(body)
}

// Constants for the tests.
const (
	FirstRedial = outbound.FirstRetry
	CrowdedWait = socketmode.CrowdedWait
	RefusedWait = socketmode.RefusedWait
	GraceTime   = socketmode.GraceTime
	NameLasts   = nameLifetime
)

// QueueOf returns the queue of a channel's events.
func QueueOf(channel string) int {
	return socketmode.QueueOf([]byte(`{"event":{"channel":"` + channel + `"}}`))
}

// Connect replaces the connections to Slack.
func (s *Slack) Connect(to http.RoundTripper) { s.http.Transport = to }
