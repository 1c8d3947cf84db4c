package discord_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
)

func TestAThousandRestartsInADay(t *testing.T) {
	const day = 24 * time.Hour
	clock := discordtest.NewClock(time.Now())
	r := hear(t, setup{fake: discordtest.Options{Now: clock.Now}}).known()
	var giveUp func()
	r.ctx, giveUp = context.WithTimeout(t.Context(), 4*patience) // a thousand take a while
	defer giveUp()
	red := 0
	for range 1000 {
		r.halt()
		r.ForgetSessions() // so that each is an identification
		clock.Advance(day / 1001)
		r.start()
		r.eventually("a session, or a wait for one", func() bool {
			hears, _ := r.p.Probe()
			return hears == nil || strings.Contains(hears.Error(), "reset its token")
		})
		if hears, _ := r.p.Probe(); hears != nil {
			red++
			if !strings.Contains(hears.Error(), "reset its token") {
				t.Fatalf("it hears nothing, and says %v", hears)
			}
		}
	}
	if n := len(r.Identifies()); n > 600 || n < 300 {
		t.Errorf("it identified %d times in a day", n)
	}
	if red == 0 {
		t.Error("it never waited")
	}
	clock.Advance(day)
	r.halt()
	r.start()
	r.known()
}

func TestTheBudgetThatOthersSpent(t *testing.T) {
	r := hear(t, setup{fake: discordtest.Options{IdentifyBudget: 11}}).known()
	for n := 1; n < 5; n++ { // 11 in a day: half of them are ours
		r.ForgetSessions()
		r.ResetAll()
		r.eventually("another session", func() bool { return len(r.Identifies()) > n && len(r.Open()) == 1 })
	}
	r.ForgetSessions()
	r.ResetAll()
	r.eventually("a wait", func() bool {
		hears, _ := r.p.Probe()
		return hears != nil && strings.Contains(hears.Error(), "too many sessions")
	})
	if left := r.Budget().Remaining; left < 11/2 {
		t.Errorf("%d are left", left)
	}
}

func TestResumesAreFree(t *testing.T) {
	r := hear(t, setup{}).known()
	for range 20 {
		r.halt()
		r.start()
		r.known()
	}
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("it identified %d times", n)
	}
}
