package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
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
	// of a stream, beats would set the clock again
	still := newBrowser(t).before("delete globalThis.SharedWorker; globalThis.fetch = () => new Promise(() => {})")
	page := still.newWindow(p.at, "/approvals")
	page.shows("in 2 hours")
	const clock = `import(document.querySelector('script[src]').src.replace(/[^/]*$/, 'clock.js'))`
	for minutes, shown := range map[int]string{100: "in 49 minutes", 29: "in 2 hours", 200: "50 minutes ago"} {
		eval[any](page, fmt.Sprintf("%s.then(c => c.heard(new Date(Date.now() + %d * 60000).toISOString()))", clock,
			minutes))
		page.shows(shown)
	}
	chat.shows("in 2 hours")
}

// TestOneWayOfTellingTime: every page tells how long ago something was, and on hovering the time of the reader's clock.
func TestOneWayOfTellingTime(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("note add milk")
	w.press("Approve")
	w.shows("Done: “milk”")
	w.run(command(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"}))
	for _, path := range []string{"/", "/approvals", "/sessions"} {
		w.run(chromedp.Navigate(p.at + path))
		w.until("the times of "+path, `document.querySelector('time') &&
			[...document.querySelectorAll('time')].every(t =>
			/^(just now|.* ago|in .*)$/.test(t.textContent) && /\d:\d\d:\d\d.*(GMT\+9|JST)/.test(t.title))`)
	}
}
