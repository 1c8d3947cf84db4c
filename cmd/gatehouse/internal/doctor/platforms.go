package doctor

import (
	"context"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// checkPlatforms checks each platform that is configured. store is nil where the database can't be used.
func (c Command) checkPlatforms(ctx context.Context, cfg settings.Config, store *storage.Store) []finding {
	var found []finding
	if cfg.Slack.Enabled() {
		found = append(found, c.checkSlack(ctx, cfg, store)...)
	}
	if cfg.Discord.Enabled() {
		found = append(found, checkDiscord(ctx, cfg, store)...)
	}
	if found == nil {
		return unconfigured
	}
	return found
}

// unconfigured are the findings where there is no platform.
var unconfigured = []finding{
	{"slack", stateOK, "Slack is not configured. You can talk to the agent on the web page of gatehouse serve, or with gatehouse chat.", "To add Slack, run gatehouse manifest slack and follow adapters/slack/README.md."},
	{"discord", stateOK, "Discord is not configured. You can talk to the agent on the web page of gatehouse serve, or with gatehouse chat.", "To add Discord, run gatehouse manifest discord and follow adapters/discord/README.md."},
}

func (c Command) checkSlack(ctx context.Context, cfg settings.Config, store *storage.Store) []finding {
	checkup := slack.Checkup{Config: cfg.Slack, Approvers: cfg.Policy.Approvers(), Listen: cfg.Listen, Quick: c.Quick, Now: time.Now}
	if store != nil {
		checkup.LastEvent = func(ctx context.Context) (time.Time, error) { return lastReceived(ctx, store.Events, slack.Name) }
	}
	return cli.List(checkup.Run(ctx), func(f slack.Check) finding { return finding{f.Name, string(f.State), f.What, f.Mend} })
}

func checkDiscord(ctx context.Context, cfg settings.Config, store *storage.Store) []finding {
	checkup := discord.Checkup{Config: cfg.Discord, Approvers: cfg.Policy.Approvers(), Listen: cfg.Listen, Now: time.Now}
	if store != nil {
		checkup.KV = store
		checkup.Recent = func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Limit: settings.RecentEvents})
		}
	}
	return cli.List(checkup.Run(ctx), func(f discord.Check) finding { return finding{f.Name, string(f.State), f.What, f.Mend} })
}

// lookBack is how many events are searched for the last one that a platform sent.
const lookBack = 100

// eventLister lists events, latest first.
type eventLister func(context.Context, core.EventFilter) ([]core.EventRecord, error)

// lastReceived returns the time at which the last event from a platform was stored. Events that gatehouse made itself do not count:
// retries, and the signal of a decision, which may come from the command line.
func lastReceived(ctx context.Context, events eventLister, platform string) (time.Time, error) {
	found, err := events(ctx, core.EventFilter{Platform: platform, Limit: lookBack})
	for _, e := range found {
		if e.Kind() != core.KindSignal && e.RetryOf == 0 {
			return e.AcceptedAt, err
		}
	}
	return time.Time{}, err
}
