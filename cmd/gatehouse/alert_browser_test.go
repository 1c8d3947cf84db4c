package main

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// noisy records the notifications that a page shows, and the tones that it plays. Chromium without a desktop shows no
// notifications, so what it would answer about them stands here: a setting that is put before it.
const noisy = `{ window.told = []; window.rung = 0;
	const start = OscillatorNode.prototype.start;
	window.Notification = class {
		static permission = setting;
		constructor(text) { if (setting !== 'granted') throw new TypeError('not granted'); told.push(text); }
	};
	OscillatorNode.prototype.start = function (...at) { rung++; return start.apply(this, at); }; }`

// TestAnApprovalIsHeardWhereItIsAllowed: once it is switched on, a new approval is told by a sound and, where the
// browser allows it, by a notification; one that was decided is not.
func TestAnApprovalIsHeardWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	waits := 0
	for setting, want := range map[string]int{"granted": 1, "denied": 0} {
		b := newBrowser(t)
		b.script = "const setting = " + quoted(setting) + "; " + noisy
		w := b.newWindow(p.at, "/approvals")
		w.logIn(bobsToken)
		w.shows("Approvals")
		hears := func(id string) {
			t.Helper()
			waits++
			p.asks(id)
			w.shows("Refund " + id)
			w.until("the count", "document.getElementById('waiting').innerText === '"+strconv.Itoa(waits)+"'")
		}
		hears("before " + setting)
		if n := eval[int](w, "rung + told.length"); n > 0 {
			t.Errorf("it was told %d times before it was switched on", n)
		}
		w.run(chromedp.Click(chromedp.CSS("#alert")))
		w.until("one hears what it sounds like", "rung === 2")
		hears(setting)
		w.until("the sound", "rung === 4")
		if got := eval[int](w, "told.length"); got != want {
			t.Errorf("%s: %d notifications, not %d", setting, got, want)
		}
		waits--
		p.start(nil, "approvals", "deny", setting, "--as", "bob").ok(t)
		w.until("one less", "document.getElementById('waiting').innerText === '"+strconv.Itoa(waits)+"'")
		if n := eval[int](w, "rung + told.length"); n != 4+want {
			t.Errorf("%s: a decision was told as a new one", setting)
		}
	}
}
