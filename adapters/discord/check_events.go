package discord

import (
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// freshEvent is how long ago the last event may have come without a question.
const freshEvent = time.Hour

// events tells when Discord was last heard, which proves the whole way from Discord to the database.
func (e *examination) events() {
	if e.Recent == nil {
		return
	}
	const mend = "While gatehouse serve runs, mention the bot in a channel that it sees, and run gatehouse doctor again. If nothing comes, gatehouse serve says why."
	if e.recentErr != nil {
		e.add("events", Fail, fmt.Sprintf("The database can't tell when the last event came from Discord: %v.", e.recentErr), "See GATEHOUSE_DATABASE_URL.")
		return
	}
	at := time.Time{}
	fromDiscord := func(ev core.EventRecord) bool { // what gatehouse made itself proves nothing
		return ev.Platform == Name && ev.Kind() != core.KindSignal && ev.RetryOf == 0
	}
	if i := slices.IndexFunc(e.recent, fromDiscord); i >= 0 {
		at = e.recent[i].AcceptedAt
	}
	age := e.Now().Sub(at)
	switch {
	case at.IsZero():
		e.add("events", Warn, "No event has come from Discord yet.", mend)
	case age <= freshEvent:
		e.add("events", OK, fmt.Sprintf("The last event came from Discord %s ago.", age.Round(time.Second)), "")
	default:
		e.add("events", Warn, fmt.Sprintf("The last event came from Discord at %s.", at.Local().Format("2006-01-02 15:04")), mend)
	}
}
