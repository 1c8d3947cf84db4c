package discord

import (
	"net/http"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A 403 or 404 that is not Discord's own tells of what stands before it, and not of a channel: neither is a message taken for one outside
// of threads, nor is a post given up.
func TestARefusalOfAProxyTellsNothingOfDiscord(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		w := newTown(t, nil)
		thread := w.alice.OpensThread(general, w.alice.Posts(general, "work").ID, "work")
		page := discordtest.ServerError(status)
		w.Inject(discordtest.Fault{Route: "GET /channels/{channel}", Trouble: page, Times: 1})
		if _, err := w.d.atlas.place(w.ctx(), thread); core.CategoryOf(err) != core.ProviderUnavailable {
			t.Errorf("%d: where the message stands: %v", status, err)
		}
		if at, err := w.d.atlas.place(w.ctx(), thread); err != nil || !at.Thread {
			t.Errorf("%d: then: %+v, %v", status, at, err)
		}
		w.Inject(discordtest.Fault{Route: discordtest.CreateMessage, Trouble: page, Times: 1})
		d := answerTo("reply/1", "hello", core.Address{Platform: Name, Channel: general, Thread: thread})
		if _, _, err := w.d.Post(w.ctx(), d); status == http.StatusForbidden && core.CategoryOf(err) != core.DeliveryLater {
			t.Errorf("%d: a post: %v", status, err)
		}
	}
}
