package main

import (
	"testing"

	"gatehouse/core"
)

// ticks ticks the row of an approval.
func (w *window) ticks(id string) {
	w.t.Helper()
	box := "document.querySelector('.ask[data-approval=" + id + "] [name=pick]')"
	w.until("the box of "+id, box)
	eval[any](w, box+".click()")
}

// TestSeveralAreDecidedAndFilteredInABrowser: a filter leaves what fits, also of what comes later; what is ticked is
// decided at once, each on its own, and what is dangerous can't be ticked; what is hidden is revealed beside the list.
func TestSeveralAreDecidedAndFilteredInABrowser(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken})
	for _, id := range []string{"pear-1", "plum-1", "plum-2"} {
		p.asks(id, batched)
	}
	p.asks("plum-3", batched, risky)
	p.asks("plum-4", func(a *core.Approval) { a.Call.Arguments = []byte(`{"password":"hunter2-swordfish"}`) })
	w := newBrowser(t).newWindow(p.at, "/approvals")
	w.logIn(bobsToken)
	w.as(1280, 800, "light")
	w.until("all", "document.querySelectorAll('[data-group=mine] .ask').length === 5")
	eval[any](w, "document.querySelector('.filter [name=q]').value = 'plum'; "+
		"document.querySelector('.filter button').click()")
	w.until("what fits", "location.search.includes('q=plum') && "+
		"document.querySelectorAll('[data-group=mine] .ask').length === 4")
	p.asks("plum-5", batched)
	w.until("a new one that fits", "document.querySelector('.ask[data-approval=plum-5]')")
	p.asks("pear-2", batched)
	p.asks("plum-6", batched)
	w.until("the next one that fits", "document.querySelector('.ask[data-approval=plum-6]')")
	if eval[bool](w, "!!document.querySelector('.ask[data-approval^=pear]')") {
		t.Error("the list shows what the filter leaves out")
	}
	if eval[bool](w, "!!document.querySelector('.ask[data-approval=plum-3] [name=pick]')") {
		t.Error("what is dangerous can be ticked")
	}
	w.ticks("plum-1")
	w.ticks("plum-2")
	w.shows("2 ticked")
	p.asks("plum-7", batched)
	w.until("another one", "document.querySelector('.ask[data-approval=plum-7]')")
	w.shows("2 ticked")
	w.inspect("approvals-ticked")
	w.as(1280, 800, "light")
	w.press("Approve ticked")
	w.shows("2 approved.")
	for id, want := range map[core.ApprovalID]core.ApprovalState{
		"plum-1": core.Approved, "plum-2": core.Approved, "plum-3": core.Open, "plum-5": core.Open, "pear-1": core.Open,
	} {
		if a, err := p.store.LoadApproval(t.Context(), id); err != nil || a.State != want {
			t.Errorf("%s is %s, want %s: %v", id, a.State, want, err)
		}
	}
	w.until("the script", "document.querySelector('.ask.current')")
	w.opens("plum-4")
	w.until("its card", "document.querySelector('.detail .card[data-approval=plum-4]')")
	if w.count("swordfish") != 0 {
		t.Error("what is hidden is shown")
	}
	w.press("Show what is hidden")
	w.until("what was hidden, beside the list", "document.querySelector('.detail').innerText.includes('swordfish')")
}
