package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// recentEvent is how old the latest event may be without a hint.
const recentEvent = time.Hour

// checkEvents reports when the latest event came, which proves the whole path from Slack to the database.
func (r *run) checkEvents(ctx context.Context) {
	if r.Inbox == nil {
		return
	}
	at, err := r.lastReceived(ctx)
	age := r.Now().Sub(at)
	switch {
	case err != nil:
		r.Add("events", outbound.Fail,
			fmt.Sprintf("The time of the last event from Slack can't be read from the database: %v.", err),
			"See GATEHOUSE_DATABASE_URL.")
	case at.IsZero():
		r.Add("events", outbound.Warn, "No event has come from Slack yet.", r.eventHint())
	case age <= recentEvent:
		r.Add("events", outbound.OK, fmt.Sprintf("The last event came from Slack %s ago.", age.Round(time.Second)), "")
	default:
		r.Add("events", outbound.Warn,
			fmt.Sprintf("The last event came from Slack at %s.", at.Local().Format("2006-01-02 15:04 MST")),
			r.eventHint())
	}
}

// lookBack is how many events are searched for the last one that Slack sent.
const lookBack = 100

// lastReceived returns the time at which the last event from Slack was stored; zero: never. Events that gatehouse made
// itself do not count: retries, and the signal of a decision, which may come from the command line.
func (r *run) lastReceived(ctx context.Context) (time.Time, error) {
	found, err := r.Inbox.Events(ctx, core.EventFilter{Platform: webapi.Platform, Limit: lookBack})
	for _, e := range found {
		if e.Kind() != core.KindSignal && e.RetryOf == 0 {
			return e.AcceptedAt, err
		}
	}
	return time.Time{}, err
}

// eventHint returns how to trigger an event, and where to look if none arrives.
func (r *run) eventHint() string {
	_, events := ScopesFor(false)
	bot := r.bot
	if bot == "" {
		bot = r.BotName
	}
	hint := fmt.Sprintf("While gatehouse serve runs, write “@%s hello” in a channel that the bot is in, and run "+
		"gatehouse doctor again. If nothing comes: open %s, "+
		"switch Enable Events on, and check that Subscribe to bot events lists %s", bot, r.page("event-subscriptions"),
		strings.Join(events, ", "))
	if r.API.AppToken != "" {
		return hint + fmt.Sprintf("; check also that Socket Mode is on (%s).", r.page("socket-mode"))
	}
	return hint + "; check also that the Request URL there ends in " + r.Paths[0] + " and is marked Verified."
}
