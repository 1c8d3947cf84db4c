package discord_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
)

// The bot receives every message across many restarts in a day, a third of which can't resume their session. Further
// restarts use up its half of the identify budget; the bot then waits and reports that. If the tests are wide, the
// budget is Discord's, and there are a thousand restarts.
func TestManyRestartsStayWithinTheIdentifyBudget(t *testing.T) {
	const day = 24 * time.Hour
	budget, restarts, more := 60, 18, 27
	if os.Getenv("GATEHOUSE_TEST_WIDE") != "" {
		budget, restarts, more = 1000, 1000, 200
	}
	clock := discordtest.NewClock(time.Now())
	o := discordtest.Options{Now: clock.Now, IdentifyBudget: budget, SessionLifetime: time.Hour}
	r := newInbound(t, setup{fake: o}).known()
	restart := func(after time.Duration) {
		var giveUp func()
		r.ctx, giveUp = context.WithTimeout(t.Context(), patience) // for each: all take a while
		t.Cleanup(giveUp)
		r.halt()
		// one that is forgotten lives as long
		r.eventually("the end of the connection", func() bool { return r.Sessions() == 0 })
		clock.Advance(after)
		r.start()
	}
	waits := 0
	for n := range restarts + more {
		if n%3 == 0 || n >= restarts {
			r.ForgetSessions() // so that it is an identification
		}
		restart(day / time.Duration(restarts+more+1))
		r.eventually("a session, or a wait for one", func() bool {
			hears, _ := r.p.Health()
			return hears == nil || strings.Contains(hears.Error(), "reset its token")
		})
		if hears, _ := r.p.Health(); hears != nil {
			waits++
			if n < restarts || !strings.Contains(hears.Error(), "reset its token") {
				t.Fatalf("after %d restarts it hears nothing, and says %v", n+1, hears)
			}
		}
	}
	ours := budget / 2
	begun := 1 + (restarts+2)/3 // when the first restarts were over
	if n := len(r.Identifies()); n != ours {
		t.Errorf("it identified %d times in a day, want %d", n, ours)
	}
	if waits != more-(ours-begun) {
		t.Errorf("it waited %d times, want %d", waits, more-(ours-begun))
	}
	restart(day)
	r.known()
}

func TestIdentifiesOfOtherProgramsCountAgainstTheBudget(t *testing.T) {
	r := newInbound(t, setup{fake: discordtest.Options{IdentifyBudget: 11}}).known()
	for n := 1; n < 5; n++ { // 11 in a day: half of them are ours
		r.ForgetSessions()
		r.ResetAll()
		r.eventually("another session", func() bool { return len(r.Identifies()) > n && len(r.Open()) == 1 })
	}
	r.ForgetSessions()
	r.ResetAll()
	r.eventually("a wait", func() bool {
		hears, _ := r.p.Health()
		return hears != nil && strings.Contains(hears.Error(), "too many sessions")
	})
	if left := r.Budget().Remaining; left < 11/2 {
		t.Errorf("%d are left", left)
	}
}

func TestResumesAreFree(t *testing.T) {
	r := newInbound(t, setup{}).known()
	for range 20 {
		r.halt()
		r.start()
		r.known()
	}
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("it identified %d times", n)
	}
}

// Only identifies that are sent count, not attempts to reach the gateway: an outage of hours uses up no budget.
func TestFailedConnectionsDoNotCountAsIdentifies(t *testing.T) {
	r := newInbound(t, setup{before: func(r *inbound) { r.RefuseConnections(true) }})
	r.eventually("some tries", func() bool { return r.CountCalls("GET /gateway/bot") > 10 })
	r.RefuseConnections(false)
	r.known()
	if n := r.kv.used("discord/identify"); n != 1 || len(r.Identifies()) != 1 {
		t.Errorf("%d identifications are counted, and there were %d", n, len(r.Identifies()))
	}
}
