package slack

import (
	"fmt"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
)

// Posts that waited because of a 429 are then sent at the channel's rate, and not all at once.
func TestPostsKeepTheRateAfterAWait(t *testing.T) {
	const rps, posts, wait = 2, 20, 30 * time.Second
	now := adaptertest.Noon
	p := newRateLimit(rps)
	waiting := map[string]time.Time{} // by part: when to ask again
	ask := func(part string) {
		if d := p.wait("C1", part, now); d > 0 {
			waiting[part] = now.Add(d)
			return
		}
		delete(waiting, part)
	}
	for i := range posts {
		ask(fmt.Sprint("before ", i))
		if i == burst-1 { // the last of the burst is answered with a 429
			p.pause("C1", wait, now)
		}
	}
	for i := range posts {
		ask(fmt.Sprint("after ", i))
	}
	total := len(waiting)
	gone := func() int { return total - len(waiting) }
	for ; len(waiting) > 0; now = now.Add(100 * time.Millisecond) {
		for part, at := range waiting {
			if !at.After(now) {
				ask(part)
			}
		}
		since := now.Sub(adaptertest.Noon.Add(wait))
		if most := burst + 1 + int(max(0, since).Seconds()*rps); gone() > most || since < 0 && gone() > 0 {
			t.Fatalf("%d posts went within %s of the end of the wait", gone(), since)
		}
		if since > time.Minute {
			t.Fatalf("%d posts of %d wait still", len(waiting), total)
		}
	}
}
