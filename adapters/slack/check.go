package slack

import (
	"context"
	"time"

	"gatehouse/adapters/slack/internal/preflight"
	"gatehouse/core"
)

// Check checks, by asking Slack, whether this configuration works. If Slack does not answer, it makes only the checks
// that don't need Slack.
func (c *Config) Check(ctx context.Context, o core.Checkup) []core.Check {
	if o.Now == nil {
		o.Now = time.Now
	}
	var last func(context.Context) (time.Time, error)
	if o.Events != nil {
		last = func(ctx context.Context) (time.Time, error) { return lastReceived(ctx, o) }
	}
	return preflight.Run(ctx, preflight.Options{
		API: c.api(), HTTP: c.SigningSecret != "", Paths: []string{pathEvents, pathInteractions, pathCommands},
		Listen: o.Listen, Quick: o.Quick,
		FollowUp: c.FollowUp == followThread || len(c.mentionGroups()) > 0, Connect: c.Connect == connectAllow,
		ApproverIDs: o.Approvers, BotName: botName, LastEvent: last, Now: o.Now,
	})
}

// lookBack is how many events are searched for the last one that Slack sent.
const lookBack = 100

// lastReceived returns the time at which the last event from Slack was stored; zero: never. Events that gatehouse made
// itself do not count: retries, and the signal of a decision, which may come from the command line.
func lastReceived(ctx context.Context, o core.Checkup) (time.Time, error) {
	found, err := o.Events(ctx, core.EventFilter{Platform: Name, Limit: lookBack})
	for _, e := range found {
		if e.Kind() != core.KindSignal && e.RetryOf == 0 {
			return e.AcceptedAt, err
		}
	}
	return time.Time{}, err
}
