package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/core/llm/llmtest"
)

// beingWritten is the text of the reply that is being written; "": there is none.
const beingWritten = "(document.querySelector('.live')?.innerText ?? '')"

// TestABrowserShowsTextAsItIsWritten: the first words are there within a second of the model's first piece, each tab
// shows what comes, nothing of it is read out, the text of an attempt that failed is replaced, a secret is hidden
// wherever its pieces are cut, and the stored reply takes the place of all that once.
func TestABrowserShowsTextAsItIsWritten(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	m := newSlowModel(t)
	p := newLocal(t, m.env()...)
	w, other := b.newWindow(p.at, "/"), b.newWindow(p.at, "/")
	w.shows("Connected")
	other.shows("Connected")
	eval[any](w, `window.shown = []; new MutationObserver(() => {
		const text = `+beingWritten+`; if (text && !window.first) window.first = Date.now();
		window.shown.push(document.body.innerText);
	}).observe(document.body, {subtree: true, childList: true, characterData: true})`)
	w.say("tell me")
	m.pieces <- "Half of it, "
	began := <-m.first
	m.pieces <- "and "
	w.until("the beginning is shown", beingWritten+".includes('Half of it')")
	if took := time.UnixMilli(eval[int64](w, "window.first")).Sub(began); took > time.Second {
		t.Errorf("the first text was shown %v after the model's first piece", took)
	}
	other.until("another tab shows it, too", beingWritten+".includes('Half of it')")
	w.until("it is not read out", "document.querySelector('.live').getAttribute('aria-live') === 'off'")
	m.pieces <- "!"
	m.pieces <- "**The key** is sk-ant-api03-aB3xaB3xaB3xaB3xaB3x"
	m.pieces <- "aB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3x, "
	m.pieces <- "and that "
	w.until("the failed attempt is replaced", beingWritten+".includes('The key') && !"+beingWritten+".includes('Half')")
	w.until("it is drawn", "document.querySelector('.live strong')")
	w.until("the secret is hidden", beingWritten+".includes('hidden')")
	if eval[bool](w, "window.shown.some(text => text.includes('aB3x'))") {
		t.Error("a part of a secret was shown")
	}
	m.pieces <- "is all."
	m.pieces <- ""
	for _, w := range []*window{w, other} {
		w.until("the stored reply takes its place",
			"document.querySelectorAll('.reply').length === 1 && !document.querySelector('.live')")
		if n := w.count("and that is all."); n != 1 {
			t.Errorf("the reply is shown %d times", n)
		}
	}
	if eval[bool](w, "window.shown.some(text => text.split('The key').length > 2)") {
		t.Error("the reply was shown twice for a moment")
	}
}

// TestABrowserIsToldWhatRuns: a tool and for how long, and nothing of a turn that was stopped stays.
func TestABrowserIsToldWhatRuns(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	m := newSlowModel(t)
	p := newLocal(t, m.env()...)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("tell me")
	m.pieces <- "Some words "
	m.pieces <- "and more "
	w.until("the text is shown", beingWritten+".includes('Some words')")
	w.until("it is told for how long", "/^Working…\\s+\\d+ s/.test(document.querySelector('#working').innerText)")
	w.press("Stop")
	w.shows("Stopped.")
	w.until("nothing of it stays", "!document.querySelector('.live') && document.querySelector('#working').hidden")
}

// TestLaw1_ABrowserIsToldWhatRunsAfterAKill: the tool runs again, and the page says so; a message that came meanwhile
// waits, and both are answered once.
func TestLaw1_ABrowserIsToldWhatRunsAfterAKill(t *testing.T) {
	t.Parallel()
	slow := filepath.Join(t.TempDir(), "slow.yaml")
	gate := filepath.Join(t.TempDir(), "gate")
	noErr(t, os.WriteFile(slow, []byte("version: 1\ntools:\n  - name: shop.find\n    description: Finds.\n"+
		"    risk: read\n    env: [PATH]\n"+
		"    command: [sh, -c, \"until [ -e "+gate+" ]; do sleep 0.1; done; echo Found.\"]\n"), 0o600))
	p := newLocal(t, "GATEHOUSE_TOOLS="+slow)
	w := newBrowser(t).newWindow(p.at, "/")
	w.shows("Connected")
	w.say("call shop.find {}")
	runs := "/^Running shop.find…\\s+\\d+ s/.test(document.querySelector('#working').innerText)"
	w.until("it is told", runs)
	w.down(true)
	p.app.kill()
	w.shows("Reconnecting")
	w.say("calc 1+1")
	p.open()
	w.shows("Connected")
	w.until("it is told again", runs)
	noErr(t, os.WriteFile(gate, nil, 0o600))
	w.shows("Found.")
	w.shows("= 2")
	w.until("nothing runs", "document.querySelector('#working').hidden")
	if n := w.count("Found."); n != 1 {
		t.Errorf("the answer is there %d times", n)
	}
}

// TestABrowserIsToldWhenAModelIsAskedAgain: it says in how long, also after a kill.
func TestABrowserIsToldWhenAModelIsAskedAgain(t *testing.T) {
	t.Parallel()
	v := vendors["OpenAI"](t)
	p, _ := newModelEngine(t, v)
	v.Think(func(llmtest.Received) llmtest.Answer {
		limited := v.fail(http.StatusTooManyRequests, "rate_limit_exceeded", "slow down")
		limited.Header = map[string]string{"Retry-After": "20"}
		return limited
	})
	w := newBrowser(t).newWindow(p.at, "/")
	w.logIn(annsToken)
	w.shows("Connected")
	w.say("hello")
	again := "/^Trying again\\s+in \\d+ s/.test(document.querySelector('#working').innerText)"
	w.until("it is told", again)
	w.down(true)
	p.app.kill()
	w.shows("Reconnecting")
	p.open()
	w.shows("Connected")
	w.until("it is told again", again)
	w.press("Stop")
	w.shows("Stopped.")
}
