package discord

import (
	"net/http"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// The global limit does not hold up answers to interactions, which have three seconds. A proxy that lets nothing through does.
func TestTheGlobalLimitHoldsUpNoAnswerToAPress(t *testing.T) {
	for name, c := range map[string]struct {
		trouble discordtest.Trouble
		answers int
	}{
		"the global limit": {discordtest.RateLimited(time.Minute, discordtest.ScopeGlobal), 1},
		"a proxy":          {discordtest.RateLimitedByProxy(time.Minute), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t, nil)
			w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: c.trouble, Times: 1})
			d := answerTo("reply/1", "hello", core.Address{Platform: Name, Channel: general})
			if _, _, err := w.d.Post(w.ctx(), d); core.RetryAfterOf(err) != time.Minute {
				t.Fatalf("%v", err)
			}
			_ = w.d.call(w.ctx(), http.MethodPost, "/interactions/1/token/callback", acknowledged, nil)
			if n := w.CountCalls("POST /interactions/{interaction}/{token}/callback"); n != c.answers {
				t.Errorf("%d answers were given", n)
			}
			if _, _, err := w.d.Post(w.ctx(), d); core.RetryAfterOf(err) == 0 || w.d.pace(d) == 0 {
				t.Errorf("another post does not wait: %v", err)
			}
		})
	}
}
