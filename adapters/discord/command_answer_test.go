package discord_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A private notice may be ready before the answer to the press has arrived; until then Discord accepts no follow-up.
// The notice waits a little and does not become a direct message.
func TestPrivateNoticeWaitsForTheAnswerToThePress(t *testing.T) {
	r := newInbound(t, setup{}).known()
	held := r.Inject(
		discordtest.Fault{Endpoint: "POST /interactions/{interaction}/{token}/callback", Trouble: discordtest.Held()})
	i := r.bob.Presses(r.button(general, r.sealed("a1", "approve")))
	e := r.more(0)
	posted := make(chan error)
	go func() {
		_, _, err := r.p.Post(r.ctx,
			core.Delivery{Post: core.Post{
				Key: "private/1", Kind: core.PostPrivate, Text: "You may not.", Person: e.Actor.ID, To: e.Address,
			}})
		posted <- err
	}()
	const pause = 300 * time.Millisecond
	select {
	case err := <-posted:
		t.Fatalf("it did not wait: %v\n%s", err, r.Dump())
	case <-r.waited(pause):
	}
	held.Release()
	r.answered(i, discordtest.Update)
	r.timers.FireAlways(pause)
	if err := <-posted; err != nil {
		t.Fatal(err)
	}
	if m := r.Ephemerals(general, bobID); len(m) != 1 || !strings.Contains(m[0].Content, "You may not.") {
		t.Errorf("bob sees %+v", m)
	}
	if n := r.CountCalls("POST /users/@me/channels"); n != 0 {
		t.Error("it became a direct message")
	}
}

// waited is closed once the platform waits for this time.
func (r *inbound) waited(pause time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = adaptertest.Poll(r.ctx, func() bool { return r.timers.Count(pause) > 0 })
	}()
	return done
}
