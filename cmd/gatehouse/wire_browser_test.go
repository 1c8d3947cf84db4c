package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// hasty are a page's times for tests in which it must notice something.
const hasty = "globalThis.gatehouseTimes = {beat: 1000, silence: 3000, first: 1500, poll: 1000, post: 2000, " +
	"retry: 2000, patience: 2000, press: 2000, unit: 100};"

// before has a script run in each new tab before the page's own.
func (b *browser) before(script string) *browser {
	return &browser{b.t, b.ctx, script}
}

// beforehand is the script of a tab, as an action.
func beforehand(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// heard are the texts of what came in a conversation of the local person, in the order in which it was stored.
func (p *serveProcess) heard(session string) (all []string) {
	p.t.Helper()
	for _, e := range p.events(core.EventFilter{Conversation: core.ConversationID("openharness:oh/local/" + session)}) {
		var body struct{ Text string }
		noErr(p.t, json.Unmarshal(e.Payload, &body))
		all = append(all, body.Text)
	}
	slices.Reverse(all)
	return all
}

// TestABrowserSendsInTheOrderOfWriting: what was written while the server was down is stored in the order of writing,
// for two tabs and a closed one, too. Start over is in its place, once, however often it was pressed.
func TestABrowserSendsInTheOrderOfWriting(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	one, two := b.newWindow(p.at, "/"), b.newWindow(p.at, "/")
	for _, w := range []*window{one, two} {
		w.shows("Connected")
		w.down(true)
	}
	p.app.kill()
	var want []string
	for i := range 6 {
		w, text := []*window{one, two}[i%2], fmt.Sprintf("message %d", i)
		w.say(text)
		want = append(want, text)
		for _, other := range []*window{one, two} {
			other.until("it looks unsent", fmt.Sprintf(
				"[...document.querySelectorAll('.item.said.unsent')].some(n => n.innerText.includes(%s) && "+
					"n.innerText.includes('Not sent yet'))", quoted(text)))
		}
		if i == 2 {
			for range 3 {
				one.press("Start over")
			}
			want = append(want, "!new")
		}
	}
	one.run(chromedp.Navigate("about:blank")) // what it wrote is the other's to send
	p.open()
	two.until("all replies", "document.querySelectorAll('.reply').length === 6")
	if got := p.heard("web"); !slices.Equal(got, want) {
		t.Errorf("stored was %q, want %q", got, want)
	}
	two.until("nothing looks unsent", "!document.querySelector('.unsent, .sending, .failed')")
	said := eval[string](two, "[...document.querySelectorAll('.said .text')].map(n => n.textContent).join()")
	if want := "message 0,message 1,message 2,message 3,message 4,message 5"; said != want {
		t.Errorf("the page shows %s", said)
	}
}

// TestABrowserSendsWhatAClosedTabLeft: in another tab that is open, or in the next one.
func TestABrowserSendsWhatAClosedTabLeft(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	closed, open := b.newWindow(p.at, "/"), b.newWindow(p.at, "/")
	for i, text := range []string{"left behind", "kept"} {
		for _, w := range []*window{closed, open} {
			w.shows("Connected")
			w.down(true)
		}
		p.app.kill()
		closed.say(text)
		closed.shows("Not sent yet")
		closed.run(chromedp.Navigate("about:blank"))
		if i == 1 {
			open.run(chromedp.Navigate("about:blank"))
		}
		p.open()
		if i == 1 {
			open.run(chromedp.Navigate(p.at + "/"))
		}
		open.until("the reply", fmt.Sprintf("document.querySelectorAll('.reply').length === %d", i+1))
		closed.run(chromedp.Navigate(p.at + "/"))
	}
	if got := p.heard("web"); !slices.Equal(got, []string{"left behind", "kept"}) {
		t.Errorf("stored was %q", got)
	}
}

// TestABrowserStopsBeforeWhatWaits: Stop overtakes what is not sent, and asks whether to discard that.
func TestABrowserStopsBeforeWhatWaits(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=10m")
	m := newMiddlebox(t, p.at)
	w := b.newWindow(m.at, "/")
	w.shows("Connected")
	w.say("a long one")
	w.shows("Working…")
	w.down(true)
	m.to(http.MethodPost, "502")
	w.say("never mind")
	w.shows("Not sent yet")
	w.press("Stop")
	w.until("the question", "document.querySelector('dialog[open]')")
	w.press("Discard it")
	w.until("it is discarded", "!document.querySelector('.unsent')")
	m.to(http.MethodPost, "pass")
	p.until("the stop", p.app, func() bool { return slices.Contains(p.heard("web"), "!stop") })
	w.say("and now")
	p.until("the next message", p.app, func() bool { return slices.Contains(p.heard("web"), "and now") })
	if got := p.heard("web"); !slices.Equal(got, []string{"a long one", "!stop", "and now"}) {
		t.Errorf("stored was %q", got)
	}
}

// TestABrowserNoticesAProxyThatHangs: one that keeps its sockets open and forwards nothing any more. The page says so,
// and a press ends with a sentence; when the proxy lives again, so does the page.
func TestABrowserNoticesAProxyThatHangs(t *testing.T) {
	t.Parallel()
	b := newBrowser(t).before(hasty)
	p := newLocal(t)
	m := newMiddlebox(t, p.at)
	w := b.newWindow(m.at, "/")
	w.shows("Connected")
	w.say("note add milk")
	w.shows("Approval needed")
	w.down(true)
	m.all("hang")
	w.shows("Reconnecting")
	w.press("Approve")
	w.shows("Whether this arrived is not known")
	w.say("hello")
	w.shows("could not be reached")
	m.all("pass")
	w.until("the connection", "document.querySelector('#connection').className === 'connected'")
	w.shows("Hello! I am gatehouse's demo agent.")
	eval[any](w, "[...document.querySelectorAll('.card button')].find(b => b.textContent === 'Approve')?.click()")
	w.shows("Done: “milk”") // by the first press, if that has arrived, or by the second
	if notes := p.notesOf("local", "web"); !slices.Equal(notes, []string{"milk"}) {
		t.Errorf("the notes are %q", notes)
	}
}

// TestABrowserAsksWhereAProxyHoldsBack: behind a proxy that forwards an answer when it has ended, a stream never
// begins.
func TestABrowserAsksWhereAProxyHoldsBack(t *testing.T) {
	t.Parallel()
	b := newBrowser(t).before(hasty)
	p := newLocal(t)
	m := newMiddlebox(t, p.at)
	m.all("buffer")
	w := b.newWindow(m.at, "/")
	w.shows("holds back what is new")
	w.say("note add milk")
	w.press("Approve")
	w.shows("Done: “milk”")
	if n := w.count("Done: “milk”"); n != 1 {
		t.Errorf("the reply is there %d times", n)
	}
}

// TestABrowserBeginsAnew: the database was begun anew under an open tab.
func TestABrowserBeginsAnew(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	old, fresh := newLocal(t, "GATEHOUSE_AGENT=echo"), newLocal(t, "GATEHOUSE_AGENT=echo")
	m := newMiddlebox(t, old.at)
	w := b.newWindow(m.at, "/")
	w.shows("Connected")
	w.say("of the old one")
	w.until("a reply", "document.querySelectorAll('.reply').length === 1")
	w.down(true)
	other := newBrowser(t).newWindow(fresh.at, "/")
	other.shows("Connected")
	other.say("of the new one")
	other.until("a reply", "document.querySelectorAll('.reply').length === 1")
	m.leads(fresh.at)
	old.app.kill()
	w.until("the new conversation", "[...document.querySelectorAll('.said')].map(n => n.innerText).join()"+
		".includes('of the new one') && document.querySelectorAll('.item').length === 2")
	w.say("one more")
	w.until("its reply", "document.querySelectorAll('.reply').length === 2")
}

// TestABrowserWhoseClockIsWrong: the order and the times are the server's.
func TestABrowserWhoseClockIsWrong(t *testing.T) {
	t.Parallel()
	p := newLocal(t)
	for _, off := range []string{"-90000000", "90000000"} {
		w := newBrowser(t).before(`{
			const Real = Date;
			globalThis.Date = class extends Real {
				constructor(...a) { a.length ? super(...a) : super(Real.now() + `+off+`); }
				static now() { return Real.now() + `+off+`; }
			};
		}`).newWindow(p.at, "/?session=off"+off)
		w.shows("Connected")
		w.say("hello")
		w.until("a reply", "document.querySelectorAll('.reply').length === 1")
		w.say("note add milk")
		w.press("Approve")
		w.until("the reply as it is stored, alone",
			"document.querySelectorAll('.reply').length === 2 && !document.querySelector('.item.live')")
		kinds := eval[string](w, "[...document.querySelectorAll('.item:not(.steps)')].map(n => "+
			"['said', 'reply', 'card'].find(k => n.classList.contains(k))).join()")
		if kinds != "said,reply,said,card,reply" {
			t.Errorf("with a clock that is %s ms off the order is %s", off, kinds)
		}
		of := eval[string](w, "document.querySelector('.reply .by time').textContent")
		if strings.Contains(of, "hour") || strings.Contains(of, "day") {
			t.Errorf("with a clock that is %s ms off the time is %q", off, of)
		}
	}
}

// TestABrowserTellsWhatAProxyAnswers: by the status of what comes in place of an answer, without asking again and
// again.
func TestABrowserTellsWhatAProxyAnswers(t *testing.T) {
	t.Parallel()
	b := newBrowser(t).before(hasty)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	m := newMiddlebox(t, p.at)
	w := b.newWindow(m.at, "/")
	w.shows("Connected")
	w.down(true)
	for i, tc := range []struct{ answer, shows, button string }{
		{"redirect", "Log in again", "Log in again"},
		{"401", "Log in again", "Log in again"},
		{"html", "Log in again", "Log in again"},
		{"403", "refuses this (403)", "Try again"},
		{"413", "too long for the proxy", "Write it again"},
		{"502", "could not be reached", "Try again"},
	} {
		m.to(http.MethodPost, tc.answer)
		before := m.messages()
		w.say("message " + tc.answer)
		w.shows(tc.shows)
		if n := m.messages() - before; n != 1 && tc.answer != "502" {
			t.Errorf("with %s the page asked %d times", tc.answer, n)
		}
		m.to(http.MethodPost, "pass")
		w.press(tc.button)
		if tc.button == "Write it again" {
			w.until("the text is back", "document.querySelector('#message').value === 'message 413'")
			w.press("Send")
		}
		w.until("the reply", fmt.Sprintf("document.querySelectorAll('.reply').length === %d", i+1))
	}
	m.to(http.MethodGet, "redirect")
	m.leads("http://127.0.0.1:1") // nobody
	p.app.kill()
	w.until("what the stream was answered", "document.querySelector('#connection.login') && "+
		"!document.querySelector('#again').hidden")
}

// TestTenTabsShareOneConnection: all load, all learn of what is new, also after a restart; with a shared worker and,
// where a browser has none, with one tab that passes it on. Tabs of other sessions share it, too.
func TestTenTabsShareOneConnection(t *testing.T) {
	t.Parallel()
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	for way, script := range map[string]string{"worker": "", "tab": "delete globalThis.SharedWorker;"} {
		m := newMiddlebox(t, p.at)
		b := newBrowser(t).before(script)
		var tabs []*window
		for i := range 10 {
			session := "web"
			if i > 7 {
				session = fmt.Sprint("other", i)
			}
			w := b.newWindow(m.at, "/?session="+session)
			w.shows("Connected")
			tabs = append(tabs, w)
		}
		learn := func(text string) {
			t.Helper()
			for _, w := range tabs[:8] {
				eval[any](w, "window.since = 0; new MutationObserver(() => { if ("+
					"[...document.querySelectorAll('.reply')].some(n => n.innerText.includes("+quoted(text)+")))"+
					" window.since ||= Date.now(); })"+
					".observe(document.querySelector('#log'), {childList: true, subtree: true})")
			}
			tabs[0].say(text)
			var at []int64
			for _, w := range tabs[:8] {
				w.until("the reply in each tab", "window.since")
				at = append(at, eval[int64](w, "window.since"))
			}
			slices.Sort(at)
			if late := at[7] - at[0]; late > wide(int64(1000), 5000) { // more where other tests use the processors
				t.Errorf("the last tab learned of it %d ms after the first", late)
			}
			for i := 8; i < 10; i++ {
				tabs[i].say(text)
				tabs[i].shows("echo: " + text)
			}
			p.until("one connection for all", p.app, func() bool { return m.held() == 1 })
		}
		learn("first by a " + way)
		for _, w := range tabs {
			w.down(true)
		}
		p.app.kill()
		for _, w := range tabs {
			w.shows("Reconnecting")
		}
		p.open()
		for _, w := range tabs {
			w.until("the connection", "document.querySelector('#connection').className === 'connected'")
		}
		learn("second by a " + way)
		tabs[0].run(chromedp.Navigate("about:blank")) // where a tab leads, it is this one
		tabs = append(tabs[1:8:8], append([]*window{b.newWindow(m.at, "/?session=web")}, tabs[8:]...)...)
		tabs[7].shows("Connected")
		learn("third by a " + way)
		if n := strings.Count(eval[string](tabs[7], "document.body.innerText"), "second by a"); n < 1 {
			t.Error("a tab that came later has not what was said before")
		}
	}
}
