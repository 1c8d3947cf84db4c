package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// opens follows the row of the list of approvals that has a text, once it is there.
func (w *window) opens(text string) {
	w.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('.ask .what a')].find(a => a.textContent.includes(%s))",
		quoted(text))
	w.until("the row "+text, find)
	eval[any](w, find+".click()")
}

// key presses a key on what has the focus.
func (w *window) key(key string) {
	w.t.Helper()
	eval[bool](w, fmt.Sprintf("(document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', "+
		"{key: %s, bubbles: true, cancelable: true}))", quoted(key)))
}

func batched(a *core.Approval) { a.Rule.Batch = true }

func risky(a *core.Approval) { a.Call.Risk = core.Dangerous }

// TestTheListOfApprovalsIsAlive: what comes appears without a reload and moves nothing that one reads; what others
// decide leaves; what is selected is shown beside the list, and decided there and with keys.
func TestTheListOfApprovalsIsAlive(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken, "eve=" + evesToken})
	w := newBrowser(t).newWindow(p.at, "/approvals")
	w.logIn(bobsToken)
	w.as(1280, 800, "light")
	w.shows("Nothing waits for your decision.")
	w.inspect("approvals-none")
	w.as(1280, 800, "light")
	eval[any](w, "window.unloaded = 'never'")
	p.asks("r1", batched)
	w.until("the row", "document.querySelector('.ask[data-approval=r1]')")
	p.asks("r2", batched)
	p.asks("r3", risky)
	p.asks("r4", func(a *core.Approval) {
		a.Rule.Quorum, a.Rule.Approvers = 2, []string{"openharness:bob", "openharness:eve"}
	})
	w.until("four rows", "document.querySelectorAll('[data-group=mine] .ask').length === 4")
	w.until("it is read out", "document.getElementById('news').textContent.includes('New: ')")
	w.opens("Refund r2")
	w.until("the card beside the list", "document.querySelector('.detail .card[data-approval=r2]')")
	w.inspect("approvals")
	w.as(1280, 800, "light")
	top := eval[float64](w, "document.querySelector('.ask[data-approval=r2]').getBoundingClientRect().top")
	p.asks("r5")
	w.until("the fifth", "document.querySelector('.ask[data-approval=r5]')")
	now := eval[float64](w, "document.querySelector('.ask[data-approval=r2]').getBoundingClientRect().top")
	if moved := now - top; moved > 1 && eval[bool](w, "scrollY + innerHeight < document.body.scrollHeight - 1") {
		t.Errorf("what is read moved by %f pixels", moved)
	}
	w.until("the focus stays", "document.activeElement.closest('.ask')?.dataset.approval === 'r2'")
	p.start(nil, "approvals", "deny", "r5", "--as", "eve").ok(t)
	w.until("what others decide leaves", "document.querySelector('[data-group=decided] .ask[data-approval=r5]')")
	w.until("the focus stays", "document.activeElement.closest('.ask')?.dataset.approval === 'r2'")
	w.key("a")
	w.until("the decision", "document.querySelector('.said.approved, .said[data-look=approved]')")
	if a, err := p.store.LoadApproval(t.Context(), "r2"); err != nil || a.State != core.Approved {
		t.Errorf("%s is %s, %v", a.ID, a.State, err)
	}
	w.until("the next one is selected", "document.querySelector('.ask.current')?.dataset.approval === 'r1'")
	w.key("k")
	w.until("the one before", "document.querySelector('.ask.current')?.dataset.approval === 'r3'")
	w.until("its card", "document.querySelector('.detail .card[data-approval=r3]')")
	w.key("a")
	w.until("the second step", "document.querySelector('.detail [name=confirmed]')")
	w.key("k")
	w.until("its card", "document.querySelector('.detail .card[data-approval=r4]')")
	w.key("d")
	w.until("the reason", "document.activeElement.name === 'reason'")
	w.run(chromedp.SendKeys(chromedp.CSS(".detail [name=reason]"), "jack said no"))
	if typed := eval[string](w, "document.activeElement.value"); typed != "jack said no" {
		t.Errorf("while one types, keys are letters: %q", typed)
	}
	eval[any](w, "document.activeElement.blur()")
	w.key("?")
	w.until("the help", "document.querySelector('#keys[open]')")
	w.inspect("approvals-keys")
	w.as(1280, 800, "light")
	eval[any](w, "document.querySelector('#letters').click(); document.querySelector('#keys').close()")
	w.key("j")
	w.key("?")
	if eval[bool](w, "document.querySelector('#keys').open") {
		t.Error("keys that were switched off do something")
	}
	if eval[string](w, "window.unloaded") != "never" {
		t.Error("the page was loaded again")
	}
}
