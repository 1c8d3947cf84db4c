package main

import (
	"strconv"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// noisy records the notifications that a page shows, and the tones that it plays.
const noisy = `{ window.told = []; window.rung = 0;
	const Real = Notification, start = OscillatorNode.prototype.start;
	window.Notification = class extends Real { constructor(text, how) { super(text, how); told.push(text); } };
	OscillatorNode.prototype.start = function (...at) { rung++; return start.apply(this, at); }; }`

// TestAnApprovalIsHeardWhereItIsAllowed: once it is switched on, a new approval is told by a sound and, where the
// browser allows it, by a notification; one that was decided is not.
func TestAnApprovalIsHeardWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	waits := 0
	for setting, want := range map[cdpbrowser.PermissionSetting]int{
		cdpbrowser.PermissionSettingGranted: 1, cdpbrowser.PermissionSettingDenied: 0,
	} {
		b := newBrowser(t)
		b.script = noisy
		b.run(command(cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: "notifications"}, Setting: setting,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		}))
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
		hears("before " + string(setting))
		if n := eval[int](w, "rung + told.length"); n > 0 {
			t.Errorf("it was told %d times before it was switched on", n)
		}
		w.run(chromedp.Click(chromedp.CSS("#alert")))
		w.until("one hears what it sounds like", "rung === 2")
		hears(string(setting))
		w.until("the sound", "rung === 4")
		if got := eval[int](w, "told.length"); got != want {
			t.Errorf("%s: %d notifications, not %d", setting, got, want)
		}
		waits--
		p.start(nil, "approvals", "deny", string(setting), "--as", "bob").ok(t)
		w.until("one less", "document.getElementById('waiting').innerText === '"+strconv.Itoa(waits)+"'")
		if n := eval[int](w, "rung + told.length"); n != 4+want {
			t.Errorf("%s: a decision was told as a new one", setting)
		}
	}
}
