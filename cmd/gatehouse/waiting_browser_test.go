package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// asks stores an approval of ann's that these people may decide, as another process would.
func (p *serveProcess) asks(id string, change ...func(*core.Approval)) {
	p.t.Helper()
	a := core.Approval{
		ID: core.ApprovalID(id), Conversation: "external:openharness:ann", State: core.Open, External: &core.External{},
		Requester: core.Actor{ID: "openharness:ann", Name: "ann"},
		Call: core.Call{
			Tool: "external.ann.refund", Summary: "Refund " + id, Arguments: []byte(`{"amount":20,"to":"cus_1"}`),
		},
		Rule: core.Rule{
			Name: "refunds", Verdict: core.VerdictAsk, Approvers: []string{"openharness:bob"}, Timeout: time.Hour,
		},
	}
	for _, c := range change {
		c(&a)
	}
	var err error
	a.Call.Digest, err = tool.Digest(a.Call.Tool, a.Call.Arguments)
	noErr(p.t, err)
	_, _, err = p.store.OpenExternal(p.t.Context(), a, nil, 1000)
	noErr(p.t, err)
}

// TestEveryTabSeesWhatWaits: who may decide sees a new approval within a second, in any of ten tabs, on every page,
// also after a restart, and whoever stored it; who may not decide sees nothing of it.
func TestEveryTabSeesWhatWaits(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	b, other := newBrowser(t), newBrowser(t)
	ann := other.newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	first := b.newWindow(p.at, "/")
	first.logIn(bobsToken)
	first.shows("Connected")
	tabs := []*window{first}
	for i := range 9 {
		tabs = append(tabs, b.newWindow(p.at, []string{"/approvals", "/sessions", "/queue", "/"}[i%4]))
	}
	waits := 0
	learn := func(when string) {
		t.Helper()
		for _, w := range tabs {
			eval[any](w, "window.since = 0; new MutationObserver(() => { window.since ||= Date.now(); })"+
				".observe(document.getElementById('waiting'), {childList: true})")
		}
		waits++
		p.asks(fmt.Sprint("r", waits))
		stored := time.Now().UnixMilli()
		for i, w := range tabs {
			w.until("the count "+when, fmt.Sprintf("window.since && document.getElementById('waiting').innerText === "+
				"'%d' && document.title.startsWith('(%d) ')", waits, waits))
			if late := eval[int64](w, "window.since") - stored; late > wide(int64(1000), 5000) {
				t.Errorf("%s tab %d learned of it after %d ms", when, i, late)
			}
		}
	}
	learn("at first")
	for _, w := range append(tabs, ann) {
		w.down(true)
	}
	p.app.kill()
	first.shows("Reconnecting")
	p.open()
	first.shows("Connected")
	learn("after a restart")
	tabs[0].run(chromedp.Navigate("about:blank"))
	tabs = tabs[1:]
	learn("without the first tab")
	ann.shows("Connected")
	seen := eval[string](ann, "document.title + document.querySelector('header').innerText")
	if strings.ContainsAny(seen, "123") {
		t.Errorf("who may not decide sees %q", seen)
	}
	p.start(nil, "approvals", "deny", "r1", "--as", "bob").ok(t)
	tabs[0].until("one less", "document.getElementById('waiting').innerText === '2'")
}
