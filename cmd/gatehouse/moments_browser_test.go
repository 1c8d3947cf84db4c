package main

import (
	"fmt"
	"testing"
)

// TestTheRemainingTimeGoesOn: an open page tells how long an approval still waits, by the server's clock, without being
// loaded again, in the words in which it was drawn.
func TestTheRemainingTimeGoesOn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_APPROVAL_TIMEOUT=2h30m")
	chat := b.newWindow(p.at, "/")
	chat.shows("Connected")
	chat.say("note add milk")
	chat.shows("in 2 hours")
	page := b.newWindow(p.at, "/approvals")
	page.shows("in 2 hours")
	const clock = `import(document.querySelector('script[src]').src.replace(/[^/]*$/, 'clock.js'))`
	for minutes, shown := range map[int]string{100: "in 49 minutes", 29: "in 2 hours", 200: "50 minutes ago"} {
		eval[any](page, fmt.Sprintf("%s.then(c => c.heard(new Date(Date.now() + %d * 60000).toISOString()))", clock,
			minutes))
		page.shows(shown)
	}
	chat.shows("in 2 hours")
}
