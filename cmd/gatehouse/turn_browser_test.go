package main

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// works is what a page says of a turn that runs.
const works = `/^Working…\s+\d+ (s|min)/.test(document.querySelector('#working').innerText) &&
	document.querySelector('#stop').offsetParent`

// TestEveryTabShowsTheTurnThatRuns: in the tab where it was asked for, in another one, after a reload and after a
// restart there is "Working", for how long, and Stop; and none of it once the turn was stopped from any tab.
func TestEveryTabShowsTheTurnThatRuns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h", "GATEHOUSE_DRAIN_TIMEOUT=1s")
	asks, watches := b.newWindow(p.at, "/"), b.newWindow(p.at, "/")
	asks.shows("Connected")
	watches.shows("Connected")
	asks.say("take your time")
	asks.until("the turn is shown where it was asked for", works)
	watches.until("the turn is shown in another tab", works)
	asks.run(chromedp.Reload())
	asks.until("the turn is shown after a reload", works)
	asks.down(true)
	watches.down(true)
	p.app.kill()
	p.open()
	watches.shows("Connected")
	watches.until("the turn is shown after a restart", works)
	watches.press("Stop")
	for _, w := range []*window{asks, watches} {
		w.until("the turn has ended",
			`document.querySelector('#working').hidden && !document.querySelector('#stop').offsetParent`)
	}
}
