package slack_test

import (
	"testing"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// A look-up changes nothing in Slack, so after a failure of Slack it is repeated later. Otherwise a reply whose answer
// was lost at the beginning of an outage would be given up after a few seconds.
func TestFindIsRetriedAfterATemporaryFailure(t *testing.T) {
	for name, c := range map[string]struct {
		trouble slacktest.Trouble
		want    core.Category
	}{
		"Slack is down":        {slacktest.ServerError(503), core.DeliveryLater},
		"no answer":            {slacktest.Cut(), core.DeliveryLater},
		"half an answer":       {fakeserver.Garbled(), core.DeliveryLater},
		"an inner error":       {slacktest.Refused("internal_error"), core.DeliveryLater},
		"the token is revoked": {slacktest.Refused("token_revoked"), core.DeliveryLater},
		"too many calls":       {slacktest.RateLimitedInBody(), core.DeliveryLater},
		"no scope":             {slacktest.MissesScope("channels:history"), core.Unsupported},
		"no such channel":      {slacktest.Refused("channel_not_found"), core.DeliveryFailed},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			for _, method := range []string{"conversations.replies", "conversations.history"} {
				o.Inject(slacktest.Fault{Endpoint: method, Trouble: c.trouble})
			}
			for _, thread := range []string{"", "1700000000.000100"} {
				d := core.Delivery{Post: core.Post{
					Key: "a", Kind: core.PostReply, Text: "a",
					To: core.Address{Platform: "slack", Channel: "C1", Thread: thread},
				}}
				if found, err := p.Find(t.Context(), d); found.Ref != "" || core.CategoryOf(err) != c.want {
					t.Errorf("in the thread %q: got %q, %v (%s), want %s", thread, found.Ref, err, core.CategoryOf(err),
						c.want)
				}
			}
		})
	}
}
