package slack

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/preflight"
)

// Check is what gatehouse doctor reports of one thing; State says how it came out.
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

// Checkup finds out whether this configuration works with this Slack, by asking Slack. It changes nothing, there or here, and what it
// finds holds no secret.
type Checkup struct {
	Config    Config
	Approvers []string                                 // all that are named, those of other platforms too
	Listen    string                                   // where gatehouse listens for HTTP
	Quick     bool                                     // no Socket Mode connection is asked for
	LastEvent func(context.Context) (time.Time, error) // when the last event came from Slack; the zero time: never. Nil: not known
	Now       func() time.Time                         // nil: time.Now
}

// Run makes the checks. Without Slack itself, only what needs no Slack is checked.
func (c Checkup) Run(ctx context.Context) []Check {
	if c.Now == nil {
		c.Now = time.Now
	}
	return preflight.Run(ctx, preflight.Options{
		API: c.Config.api(), HTTP: c.Config.SigningSecret != "", Paths: []string{pathEvents, pathInteractions, pathCommands}, Listen: c.Listen, Quick: c.Quick,
		FollowUp: c.Config.FollowUp == followThread, ApproverIDs: c.Approvers, BotName: botName, LastEvent: c.LastEvent, Now: c.Now,
	})
}
