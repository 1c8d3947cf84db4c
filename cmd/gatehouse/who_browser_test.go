package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// draft types into the composer, and sends nothing.
func (w *window) draft(text string) {
	w.t.Helper()
	w.run(chromedp.SendKeys(chromedp.CSS("#message"), text))
}

// answer answers the question of a log-out.
func (w *window) answer(label string) {
	w.t.Helper()
	find := "[...document.querySelectorAll('dialog.leave[open] button')].find(b => b.textContent === " + quoted(label) +
		")"
	w.until("the answer "+label, find)
	eval[any](w, find+".click()")
}

// composed is what is in the composer.
const composed = "document.getElementById('message')?.value"

// TestABrowserSaysWhoIsLoggedInNow: ann has two tabs and a page of approvals, and logs out in one; bob logs in there.
// Her other pages say so at once, show nothing of hers, and send nothing as bob. Her draft is hers when she is back.
func TestABrowserSaysWhoIsLoggedInNow(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	one := b.newWindow(p.at, "/")
	one.logIn(annsToken)
	one.shows("Connected")
	one.say("note add milk")
	one.shows("Approval needed")
	old, list := b.newWindow(p.at, "/"), b.newWindow(p.at, "/approvals")
	old.shows("Approval needed")
	old.draft("ann's own thought")
	for _, w := range []*window{one, old, list} {
		w.down(true) // the status of a refusal is an error in the browser's log
	}
	one.press("Log out")
	old.shows("You are logged out here")
	list.shows("You are logged out here")
	if n := old.count("note add milk"); n > 0 {
		t.Error("what ann wrote can still be read")
	}
	one.logIn(bobsToken)
	one.shows("Connected")
	for _, w := range []*window{old, list} {
		w.shows("You are bob here now")
		w.until("the ways on", `[...document.querySelectorAll('.away button')].map(b => b.textContent).join() ===
			'Go on as bob,Log in as ann'`)
	}
	one.say("hello from bob")
	one.until("the reply", "document.querySelectorAll('.reply').length === 1")
	if n := one.count("milk"); n > 0 || eval[string](one, composed) != "" {
		t.Error("bob sees what is ann's")
	}
	if n := p.messagesOf("bob", "web"); n != 1 {
		t.Errorf("bob's conversation has %d messages", n)
	}
	old.press("Log in as ann")
	old.shows("Log in as ann")
	old.logIn(annsToken)
	old.shows("Approval needed")
	old.until("the draft", composed+` === "ann's own thought"`)
	one.shows("You are ann here now")
	one.press("Go on as ann")
	one.shows("Approval needed")
	list.until("the page of ann again", "!document.querySelector('.away') && document.body.dataset.who === 'ann'")
}

// TestABrowserLearnsByARequestWhoIsLoggedIn: another tab's news have not come, such as to one that slept.
func TestABrowserLearnsByARequestWhoIsLoggedIn(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken})
	deaf := b.newWindow(p.at, "/login")
	deaf.logIn(annsToken)
	deaf.shows("Connected")
	deaf.down(true)
	// Bob logs in without a page that would tell.
	form := "fetch('/login', {method: 'POST', redirect: 'manual', body: new URLSearchParams({token: %s})}).then(r => 1)"
	eval[int](deaf, fmt.Sprintf(form, quoted(bobsToken)))
	deaf.say("for ann's eyes")
	deaf.shows("You are bob here now")
	if n := p.messagesOf("bob", "web") + p.messagesOf("ann", "web"); n != 0 {
		t.Errorf("%d messages are stored", n)
	}
	deaf.press("Log in as ann")
	deaf.logIn(annsToken)
	deaf.until("the message, sent as ann", "document.querySelectorAll('.reply').length === 1")
	if bobs, anns := p.messagesOf("bob", "web"), p.messagesOf("ann", "web"); bobs != 0 || anns != 1 {
		t.Errorf("bob has %d messages, ann %d", bobs, anns)
	}
}

// TestABrowserAsksBeforeALogOut: for what is not sent. Stay keeps it, Discard forgets it, Send sends it first.
func TestABrowserAsksBeforeALogOut(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken})
	w := b.newWindow(p.at, "/")
	w.logIn(annsToken)
	w.shows("Connected")
	w.draft("calc 2+3")
	w.press("Log out")
	w.shows("Shall this be sent before you log out?")
	w.answer("Stay")
	w.until("the page as it was", "!document.querySelector('dialog[open]') && "+composed+" === 'calc 2+3'")
	w.press("Log out")
	w.answer("Discard")
	w.shows("Your token")
	w.logIn(annsToken)
	w.shows("Connected")
	if draft := eval[string](w, composed); draft != "" {
		t.Errorf("what was discarded is back: %q", draft)
	}
	w.draft("calc 2+3")
	w.press("Log out")
	w.answer("Send")
	w.shows("Your token")
	if n := p.messagesOf("ann", "web"); n != 1 {
		t.Errorf("%d messages are stored", n)
	}
	// A log-out without unsent words asks nothing; and on another page than the chat, what is not sent is sent there.
	w.logIn(annsToken)
	w.until("the answer", `[...document.querySelectorAll('.reply')].some(r => /\b5\b/.test(r.innerText))`)
	w.press("Log out")
	w.shows("Your token")
	w.run(chromedp.Navigate(p.at + "/?session=plan"))
	w.logIn(annsToken)
	w.shows("Connected")
	w.draft("calc 3+4")
	w.run(chromedp.Navigate(p.at + "/approvals"))
	w.press("Log out")
	w.shows("calc 3+4")
	w.answer("Send")
	w.shows("Your token")
	if n := p.messagesOf("ann", "plan"); n != 1 {
		t.Errorf("%d messages are stored in the other session", n)
	}
	// While the server is down, Send waits for it.
	w.run(chromedp.Navigate(p.at + "/?session=web"))
	w.logIn(annsToken)
	w.shows("Connected")
	w.down(true)
	p.app.kill()
	w.say("calc 4+5")
	w.shows("Not sent yet")
	w.press("Log out")
	w.answer("Send")
	w.shows("Sending…")
	p.open()
	w.shows("Your token")
	if n := p.messagesOf("ann", "web"); n != 2 {
		t.Errorf("%d messages are stored after the server was down", n)
	}
}

// TestTheEndOfALoginErasesNothing: what was written and could not be sent is there, and is sent, at the next login. A
// log-out that no page tells of, such as that of a copy, is told by the end of the stream.
func TestTheEndOfALoginErasesNothing(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken})
	w := b.newWindow(p.at, "/")
	w.logIn(annsToken)
	w.shows("Connected")
	w.down(true)
	w.run(command(network.ClearBrowserCookies, cdp.Empty{}))
	w.say("calc 2+3")
	w.shows("You are logged out here")
	w.press("Log in as ann")
	w.logIn(annsToken)
	w.until("the answer", `[...document.querySelectorAll('.reply')].some(r => /\b5\b/.test(r.innerText))`)
	if n := p.messagesOf("ann", "web"); n != 1 {
		t.Errorf("%d messages are stored", n)
	}
	w.shows("Connected")
	eval[int](w, `fetch('/logout', {method: 'POST', redirect: 'manual',
		body: new URLSearchParams(new FormData(document.getElementById('logout')))}).then(r => 1)`)
	w.shows("You are logged out here")
}

// TestABrowserHasTheLoginsOfTwoBots: of one host. A log-out of one leaves the other.
func TestABrowserHasTheLoginsOfTwoBots(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	one := newEngine(t, sqliteFile, []string{"ann=" + annsToken})
	two := newEngine(t, sqliteFile, []string{"ann=" + annsToken})
	first, second := b.newWindow(one.at, "/approvals"), b.newWindow(two.at, "/approvals")
	first.logIn(annsToken)
	second.logIn(annsToken)
	for _, w := range []*window{first, second} {
		w.run(chromedp.Reload())
		w.shows("Nothing waits for your decision")
	}
	first.press("Log out")
	first.shows("Your token")
	second.run(chromedp.Reload())
	second.shows("Nothing waits for your decision")
}

// TestApprovalsWithoutJavaScript are decided with all that a form needs, the name of whom it was made for too.
func TestApprovalsWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	ann := newShell(t, p.at, annsToken)
	for _, text := range []string{"note add milk", "note add eggs"} {
		ann.send(request("", "s-"+text[len(text)-4:], text))
	}
	w := b.newWindow(p.at, "/healthz")
	w.run(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
		chromedp.Navigate(p.at+"/approvals"),
		chromedp.SendKeys(chromedp.CSS("input[type=password]"), bobsToken+"\r"),
		chromedp.WaitVisible(chromedp.CSS(".ask .what a")),
		chromedp.Click(chromedp.CSS(".ask .what a")),
		chromedp.WaitVisible(chromedp.CSS(".card button[value=approve]")),
		chromedp.Click(chromedp.CSS(".card button[value=approve]")),
		chromedp.WaitVisible(chromedp.CSS(".said.approved")),
		chromedp.Click(chromedp.CSS("[data-group=mine] .ask .what a")),
		chromedp.Click(chromedp.CSS(".card .denial summary")),
		chromedp.SendKeys(chromedp.CSS(".card .denial textarea"), "not today"),
		chromedp.Click(chromedp.CSS(".card .denial button")),
		chromedp.WaitVisible(chromedp.CSS(".said.denied")))
	p.until("both decisions", p.app, func() bool {
		return len(p.approvals(core.Approved)) == 1 && len(p.approvals(core.Denied)) == 1
	})
	if reason := p.approvals(core.Denied)[0].Reason; reason != "not today" {
		t.Errorf("the reason is %q", reason)
	}
}
