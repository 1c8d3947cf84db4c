package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// fills makes a field of the form for arguments say a text, as a person who types it would.
func (w *window) fills(argument, text string) {
	w.t.Helper()
	field := fmt.Sprintf("document.querySelector('[name=\"argument.%s\"]')", argument)
	w.until("the field "+argument, field)
	eval[any](w, field+".value = "+quoted(text))
}

func TestArgumentsAreChangedWithoutJavaScript(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken})
	p.asks("r1", func(a *core.Approval) {
		a.Rule.Edit, a.Call.Risk = true, core.Dangerous
		a.Call.Arguments = []byte(`{"amount":20,"lines":["a"],"loud":true,"to":"cus_1"}`)
	})
	page := func(path string) *window {
		w := b.newWindow(p.at, "/healthz")
		w.down(true) // a refusal's status is an error in the browser's log
		w.run(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}),
			chromedp.Navigate(p.at+path))
		return w
	}
	w := page("/approvals/r1")
	w.logIn(bobsToken)
	w.run(chromedp.WaitVisible(chromedp.CSS(`.card a.button[href*="edit="]`)),
		chromedp.Click(chromedp.CSS(`.card a.button[href*="edit="]`)))
	w.fills("amount", "21")
	w.fills("lines", `["a"`)
	w.press("See what changes")
	w.until("the fault at its field", "document.querySelector('.fault[id^=argument-1]') && "+
		"document.querySelectorAll('.changing .fault[id^=argument]').length === 1")
	w.until("what was typed", `document.querySelector('[name="argument.amount"]').value === '21' && `+
		`document.querySelector('[name="argument.lines"]').value === '["a"'`)
	w.fills("lines", `["a"]`)
	w.press("See what changes")
	w.until("what changes", "document.querySelectorAll('.diff > div').length === 1")
	w.shows("amount")

	// meanwhile the same is changed elsewhere
	other := page("/approvals/r1?edit=1")
	other.fills("amount", "30")
	other.press("See what changes")
	other.shows("What changes")
	other.press("Change")
	other.shows("Your change is stored")

	w.press("Change")
	w.shows(core.ErrChanged.Message)
	w.until("what was sent", `document.querySelector('[name="argument.amount"]')?.value === '21'`)
	if a, err := p.store.LoadApproval(t.Context(), "r1"); err != nil || a.Edits() != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	w.press("See what changes")
	w.until("what changes now", "document.querySelector('.diff del')?.textContent === '30'")
	w.press("Change")
	w.shows("Your change is stored")
	w.run(chromedp.Navigate(p.at + "/approvals/r1"))
	w.shows("Changed by bob: amount 20 → 21")
	w.run(chromedp.Click(chromedp.CSS(`a.button[href*="review="]`)),
		chromedp.Click(chromedp.CSS("[name=confirmed]")),
		chromedp.Click(chromedp.CSS("button[value=approve]")),
		chromedp.WaitVisible(chromedp.CSS(".said.approved")))
	a, err := p.store.LoadApproval(t.Context(), "r1")
	if noErr(t, err); a.State != core.Approved ||
		string(a.Call.Arguments) != `{"amount":21,"lines":["a"],"loud":true,"to":"cus_1"}` {
		t.Errorf("%s %s", a.State, a.Call.Arguments)
	}
}
