package console_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/adapters/console"
	"gatehouse/core"
	"gatehouse/core/live"
)

// TestTheSpinnerSaysWhatRuns and for how long, then the end of what is written; a secret is in none of it, wherever its
// pieces are cut. Of a turn of another process it says what its steps tell.
func TestTheSpinnerSaysWhatRuns(t *testing.T) {
	const secret = "sk-0123456789abcdef0123456789abcdef"
	synctest.Test(t, func(t *testing.T) {
		hub := live.New("console")
		withPrompt(t, console.Options{Live: hub}, func(s *gateway, _ *keyboard) {
			s.mu.Lock()
			s.waiting = 1
			s.mu.Unlock()
			says := func(want string) {
				t.Helper()
				before := len(s.output.String())
				time.Sleep(time.Second)
				synctest.Wait()
				if got := plain(s.output.String()[before:]); !strings.Contains(got, want+" you> ") {
					t.Errorf("the prompt does not say %q: %q", want, got[max(0, len(got)-200):])
				}
			}
			s.post(core.Post{Kind: core.PostWorking, On: true})
			says("Working… 0 s")
			says("Working… 1 s")
			s.post(core.Post{Kind: core.PostSteps, Text: "demo.calc · note.list ×2"})
			says("Running note.list ×2… 0 s")
			turn := hub.Begin("console", "console:default", 1)
			if !turn.Watched() {
				t.Error("nobody looks at the turn")
			}
			turn.Step("shop.refund\x1b[2J", time.Now())
			time.Sleep(63 * time.Second)
			says("Running shop.refund[2J… 1 min 3 s")
			turn.Waits(time.Now().Add(5 * time.Second))
			says("Trying again in 5 s")
			turn.Writes()
			turn.Piece("Your key is sk-0123456789ab")
			says("Your key is")
			turn.Piece("cdef0123456789abcdef\nand one half of a sign is \xe6\x97")
			says("…cters hidden) and one half of a sign is")
			turn.Piece("\xa5 that fits.\x1b[2J Now more is said than there is place for")
			says("…2J Now more is said than there is place")
			turn.Said("Your key")
			turn.End()
			s.post(core.Post{Kind: core.PostReply, Text: "That was all"})
			synctest.Wait()
			if got := s.output.String(); strings.Contains(got, secret[:24]) {
				t.Error("the secret was shown")
			} else if !strings.HasSuffix(plain(got), "place you> you> ") {
				t.Errorf("the spinner is still there: %q", got[max(0, len(got)-200):])
			}
		})
	})
}
