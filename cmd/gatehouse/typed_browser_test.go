package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// twoOfThree is a policy of which ann, who asks, is one of the approvers.
const twoOfThree = `
version: 1
rules:
  - name: notes
    tools: ["note.*"]
    action: ask
    approvers: ["openharness:ann", "openharness:bob", "openharness:eve"]
    self: true
    quorum: 2
`

// types types into the open field of a card.
func (w *window) types(field, text string) {
	w.t.Helper()
	w.until("the field", "document.querySelector("+quoted(field)+")?.offsetParent")
	w.run(chromedp.SendKeys(chromedp.CSS(field), text))
}

const (
	reasonField = ".denial textarea"
	reason      = "document.querySelector('.denial textarea')?.value"
)

// heardLater records what a page reads out from now on: what comes into a part that is read out.
const heardLater = `window.heard = []; new MutationObserver((all) => {
	for (const m of all) for (const n of m.addedNodes) {
		const e = n.nodeType === Node.ELEMENT_NODE ? n : n.parentElement;
		const live = e?.closest('[aria-live], [role=log], [role=status], [role=alert]');
		if (live && live.getAttribute('aria-live') !== 'off') heard.push(n.textContent);
	}
}).observe(document.body, {childList: true, subtree: true}); null`

// TestAReasonIsKept while somebody else votes, over a reload, the end of the login and the end of the tab; and what is
// read out of the vote is a line. When another decision closes the card, the reason can still be read.
func TestAReasonIsKept(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken, "eve=" + evesToken},
		"GATEHOUSE_APPROVAL_POLICY="+policyFile(t, twoOfThree))
	ann := b.newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	ann.say("note add milk")
	ann.press("Deny…")
	ann.types(reasonField, "not the right milk")
	eval[any](ann, "document.querySelector('.denial textarea').setSelectionRange(4, 9)")
	eval[any](ann, heardLater)
	vote := func(token string) {
		t.Helper()
		by := newBrowser(t).newWindow(p.at, "/approvals/"+string(p.approvals(core.Open)[0].ID))
		by.logIn(token)
		find := "[...document.querySelectorAll('.card button')].find(b => b.value === 'approve')"
		by.until("the button", find)
		eval[any](by, find+".click()")
		by.until("the vote is stored", "document.querySelector('[data-decided]')")
	}
	vote(bobsToken)
	ann.until("the vote", "document.querySelector('.card').innerText.includes('bob')")
	ann.until("the reason, and where it was being written", reason+` === 'not the right milk' &&
		document.activeElement.name === 'reason' && document.activeElement.selectionEnd === 9`)
	ann.until("the vote is read out", "heard.some((text) => text.includes('bob'))")
	if all := eval[[]string](ann, "heard.filter((text) => text.includes('Asked by'))"); len(all) > 0 {
		t.Errorf("of the vote the card is read out: %q", all)
	}
	if !eval[bool](ann, "document.querySelector('.card .summary').translate === false") {
		t.Error("the arguments may be translated")
	}
	ann.run(chromedp.Reload())
	ann.until("the reason after a reload", reason+` === 'not the right milk'`)

	ann.down(true) // a refusal's status is an error in the browser's log
	eval[any](ann, "document.querySelector('#logout').requestSubmit()")
	ann.logIn(annsToken)
	ann.run(chromedp.Navigate(p.at + "/"))
	ann.until("the reason after a login", reason+` === 'not the right milk'`)
	page := b.newWindow(p.at, "/approvals/"+string(p.approvals(core.Open)[0].ID))
	page.until("the reason on another page", reason+` === 'not the right milk'`)
	vote(evesToken)
	ann.until("the card is closed", "document.querySelector('.card.closed')")
	ann.shows("not the right milk")
	ann.press("Discard")
	ann.until("it is discarded", "!document.body.innerText.includes('not the right milk')")
}

// TestWhatIsTypedOnThePageOfApprovalsIsKept: over a reload and the end of a login; once it was sent, it is gone.
func TestWhatIsTypedOnThePageOfApprovalsIsKept(t *testing.T) {
	t.Parallel()
	b, other := newBrowser(t), newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	ann := other.newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	ann.say("note add milk")
	ann.shows("Approval needed")
	bob := b.newWindow(p.at, "/approvals")
	bob.logIn(bobsToken)
	bob.opens("milk")
	bob.press("Deny…")
	bob.types(reasonField, "there is enough")
	bob.run(chromedp.Reload())
	bob.until("the reason after a reload", reason+` === 'there is enough'`)
	bob.down(true)
	eval[any](bob, "document.querySelector('#logout').requestSubmit()")
	bob.logIn(bobsToken)
	bob.run(chromedp.Navigate(p.at + "/approvals"))
	bob.opens("milk")
	bob.until("the reason after a login", reason+` === 'there is enough'`)
	bob.press("Deny")
	bob.until("the decision", "document.querySelector('[data-decided]')")
	bob.until("nothing is kept", "!Object.keys(localStorage).some((key) => key.startsWith('gatehouse typed'))")
	ann.shows("there is enough")
}

// TestAFormIsKept, of a question in the chat, over a reload.
func TestAFormIsKept(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("call people.ask " + orderQuestion)
	w.types(".answer textarea", "a long story")
	w.types(".answer input[type=number]", "3")
	eval[any](w, "document.querySelectorAll('.answer input[type=radio]')[1].click()")
	w.run(chromedp.Reload())
	w.until("the form", `document.querySelector('.answer textarea')?.value === 'a long story' &&
		document.querySelector('.answer input[type=number]').value === '3' &&
		document.querySelectorAll('.answer input[type=radio]')[1].checked`)
	w.press("Answer")
	w.shows(`answered: {"size":"m","count":3,"story":"a long story"}`)
	w.until("nothing is kept", "!Object.keys(localStorage).some((key) => key.startsWith('gatehouse typed'))")
}

// TestTimesAreTheServers: a browser whose clock is two days off tells how long ago something was said by the server's.
func TestTimesAreTheServers(t *testing.T) {
	t.Parallel()
	b := newBrowser(t).before("Date.now = ((now) => () => now() + 2 * 86400000)(Date.now); " +
		"Date = class extends Date { constructor(...a) { a.length ? super(...a) : super(Date.now()) } }")
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("hello")
	w.until("the reply", "document.querySelector('.reply time')")
	if shown := eval[string](w, "document.querySelector('.reply time').textContent"); strings.Contains(shown, "day") {
		t.Errorf("what is said now has the time %q", shown)
	}
}
