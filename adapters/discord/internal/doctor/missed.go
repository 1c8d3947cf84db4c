package doctor

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/internal/outbound"
)

// missedMessages reports what was not fetched after the last gap in which no events were received. Nothing is reported
// where nothing is missing.
func (c *checks) missedMessages(ctx context.Context) {
	if c.KV == nil {
		return
	}
	all, err := gateway.ReadMissed(ctx, c.KV)
	if err != nil {
		c.Add("missed messages", outbound.Fail,
			fmt.Sprintf("Which messages were not fetched could not be read from the database: %v.", err),
			"Check GATEHOUSE_DATABASE_URL.")
		return
	}
	for n, m := range all {
		var parts []string
		if len(m.TooMany) > 0 {
			parts = append(parts, "the latest messages in "+named(m.TooMany)+", where there were too many")
		}
		if len(m.Late) > 0 {
			parts = append(parts, "messages in "+named(m.Late)+", for which there was no time")
		}
		if len(m.Refused) > 0 {
			parts = append(parts, "messages in "+named(m.Refused)+", which Discord did not give")
		}
		if m.Beyond > 0 {
			parts = append(parts, fmt.Sprintf("messages in %d conversations that were quiet longest", m.Beyond))
		}
		name := "missed messages"
		if n > 0 {
			name += fmt.Sprintf(" %d", n+1) // of another shard
		}
		c.Add(name, outbound.Warn, fmt.Sprintf("Until %s the bot received no events for a while. It has not fetched "+
			"these: %s.", m.At.Local().Format("2006-01-02 15:04"), strings.Join(parts, "; ")),
			"Look there for messages without an answer, and send them again. This is shown for a week.")
	}
}

// named lists channels by their ids, a few of them.
func named(channels []string) string {
	text := strings.Join(channels[:min(len(channels), maxNamed)], ", ")
	if more := len(channels) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "the conversations " + text
}
