package slack

import (
	"context"
	"time"

	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/core"
)

// Check checks, by asking Slack, whether this configuration works. If Slack does not answer, it makes only the checks
// that don't need Slack.
func (c *Config) Check(ctx context.Context, o core.Checkup) []core.Check {
	if o.Now == nil {
		o.Now = time.Now
	}
	return doctor.Run(ctx, doctor.Options{
		Checkup: o, API: c.api(), HTTP: c.SigningSecret != "",
		Paths:    []string{pathEvents, pathInteractions, pathCommands},
		FollowUp: c.FollowUp == followThread || len(c.mentionGroups()) > 0, Connect: c.Connect == connectAllow,
		BotName: botName, Bots: c.bots(),
	})
}
