package slack

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
)

// Check is one line of the report of gatehouse doctor; State is its outcome.
type (
	Check = chat.Check
	State = chat.State
)

// The states of a check.
const (
	OK   = chat.OK
	Warn = chat.Warn
	Fail = chat.Fail
)

// Checkup checks, by asking Slack, whether this configuration works. It changes nothing, neither in Slack nor here, and its results contain
// no secrets.
type Checkup struct {
	Config    Config
	Approvers []string                                 // the ids of all approvers, including those on other platforms
	Listen    string                                   // the address at which gatehouse listens for HTTP
	Quick     bool                                     // skips the request of a Socket Mode connection
	LastEvent func(context.Context) (time.Time, error) // returns when the last event came from Slack; zero time: never. Nil: not known
	Now       func() time.Time                         // nil: time.Now
}

// Run makes the checks. If Slack does not answer, it makes only those that don't need Slack.
func (c Checkup) Run(ctx context.Context) []Check {
	if c.Now == nil {
		c.Now = time.Now
	}
	return preflight.Run(ctx, preflight.Options{
		API: c.Config.api(), HTTP: c.Config.SigningSecret != "", Paths: []string{pathEvents, pathInteractions, pathCommands}, Listen: c.Listen, Quick: c.Quick,
		FollowUp: c.Config.FollowUp == followThread, Connect: c.Config.Connect == connectAllow, ApproverIDs: c.Approvers, BotName: botName, LastEvent: c.LastEvent, Now: c.Now,
	})
}
