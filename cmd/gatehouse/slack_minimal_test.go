package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
)

// essential are the methods that the bot can't do without.
var essential = []string{
	"auth.test", "apps.connections.open", "chat.postMessage", "chat.update", "chat.postEphemeral", "views.open",
}

// An approval works even if Slack, or a proxy, refuses every other method.
func TestSlackThatKnowsOnlyTheEssentialMethods(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]slacktest.Trouble{
		"restricted":    slacktest.Refused("enterprise_is_restricted"),
		"missing scope": slacktest.MissesScope("everything"),
		"not found":     slacktest.ServerError(http.StatusNotFound),
		"server error":  slacktest.ServerError(http.StatusInternalServerError),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, transports["Socket Mode"])
			s.slack.Inject(slacktest.Fault{Trouble: trouble, When: func(c slacktest.Call) bool {
				return strings.Contains(c.Method, ".") && !slices.Contains(essential, c.Method)
			}})
			s.ready(http.StatusOK)
			s.ann.Says("hello")
			s.reads(s.dm, "", "Hello!")
			thread, card := s.asked("milk")
			s.bob.Clicks("C1", card.TS, "approve")
			s.reads("C1", thread, "Done: “milk”")
			s.shows("C1", card.TS, "pproved", 0)
		})
	}
}
