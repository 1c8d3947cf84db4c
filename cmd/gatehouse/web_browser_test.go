package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// newLocal starts gatehouse as it is without configuration.
func newLocal(t *testing.T, env ...string) *serveProcess {
	t.Helper()
	p := newServeProcess(t, sqliteFile, append([]string{"GATEHOUSE_AGENT=demo"}, env...)...)
	p.open()
	return p
}

// TestABrowserChatsAndApproves is the main job without configuration: open the page, ask for a change, approve it on
// the card, read the reply.
func TestABrowserChatsAndApproves(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	eval[any](w, "window.unloaded = 'never'")
	w.say("hello")
	w.until("a reply", "document.querySelectorAll('.reply').length === 1")
	w.say("note add milk")
	w.shows("Approval needed")
	w.shows("May decide")
	w.shows("anyone at gatehouse's own machine")
	w.press("Approve")
	w.shows("Done: “milk”")
	w.shows("approved by you")
	w.until("the card is decided", "document.querySelector('.card.closed') && !document.querySelector('.card button')")
	if n := w.count("Done: “milk”"); n != 1 {
		t.Errorf("the reply is there %d times", n)
	}
	w.say("note add eggs")
	w.press("Deny…")
	w.run(chromedp.SendKeys(chromedp.CSS(".denial textarea"), "no eggs today"))
	w.press("Deny")
	w.shows("no eggs today")
	if eval[string](w, "window.unloaded") != "never" {
		t.Error("the page was loaded again")
	}
	notes, err := p.store.Notes(t.Context(), "openharness:oh/local/web")
	if err != nil || fmt.Sprint(notes) != "[milk]" {
		t.Errorf("the notes are %q, %v", notes, err)
	}
}

// TestABrowserWatchesWhileAnotherDecides: an approver decides in a window of their own; the first one shows it without
// a reload.
func TestABrowserWatchesWhileAnotherDecides(t *testing.T) {
	t.Parallel()
	asks, decides := newBrowser(t), newBrowser(t)
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob!=" + bobsToken})
	ann := asks.newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	ann.say("note add milk")
	ann.shows("Approval needed")
	if eval[bool](ann, "[...document.querySelectorAll('.card button')].some(b => /Approve|Deny/.test(b.textContent))") {
		t.Error("who may not decide has the buttons")
	}
	bob := decides.newWindow(p.at, "/approvals")
	bob.logIn(bobsToken)
	bob.opens("milk")
	bob.press("Approve")
	ann.shows("Done: “milk”")
	bob.until("the decision", "/approved/i.test(document.body.innerText)")
	if n := ann.count("Done: “milk”"); n != 1 {
		t.Errorf("the reply is there %d times", n)
	}
}

// TestABrowserSurvivesAReloadAndARestart: what was said is there once after a reload; while the server is down the page
// says so, and then shows what it missed, once. What is written meanwhile is sent.
func TestABrowserSurvivesAReloadAndARestart(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("note add milk")
	w.shows("Approval needed")
	w.run(chromedp.SendKeys(chromedp.CSS("#message"), "half a sent"), chromedp.Reload())
	w.shows("Connected")
	w.shows("Approval needed")
	if cards, said := eval[int](w, "document.querySelectorAll('.card').length"), w.count("note add milk"); cards != 1 ||
		said < 1 {
		t.Errorf("after a reload there are %d cards, and the message %d times", cards, said)
	}
	if draft := eval[string](w, "document.getElementById('message').value"); draft != "half a sent" {
		t.Errorf("after a reload the draft is %q", draft)
	}
	eval[any](w, "document.getElementById('message').value = ''")

	w.down(true)
	p.app.kill()
	w.shows("Reconnecting")
	w.say("calc 2+3")
	w.shows("Not sent yet")
	p.open()
	w.shows("Connected")
	w.down(false)
	w.until("the answer to what was written meanwhile",
		"[...document.querySelectorAll('.reply')].some(r => /\\b5\\b/.test(r.innerText))")

	w.down(true)
	p.app.kill()
	if _, err := p.decide("approve", "bob"); err != nil {
		t.Fatal(err)
	}
	p.open()
	w.shows("Done: “milk”")
	w.run(chromedp.Reload())
	w.shows("Done: “milk”")
	for _, text := range []string{"Done: “milk”", "calc 2+3"} {
		if n := w.count(text); n != 1 {
			t.Errorf("%q is there %d times:\n%s", text, n, eval[string](w, "document.body.innerText"))
		}
	}
}

// TestABrowserRunsNothingOfWhatIsSaid: no text of a person or a model becomes markup that acts, and no other site can
// frame the page.
func TestABrowserRunsNothingOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	hostile := "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>[a](javascript:window.hacked=1) " +
		"![i](https://evil.example/i.png) <a href=//evil.example>x</a>"
	w.say(hostile)
	w.until("the reply", "document.querySelectorAll('.reply').length === 1")
	if bad := eval[string](w,
		`[...document.querySelectorAll('#log *')].filter(e => `+
			`/^(IMG|SCRIPT|IFRAME|STYLE|LINK|FORM|INPUT|OBJECT)$/.test(e.tagName) || [...e.attributes].some(a => `+
			`/^on/i.test(a.name) || /^\s*(javascript|data):/i.test(a.value))).map(e => `+
			`e.outerHTML).join()`); bad != "" {
		t.Errorf("what was said became %s", bad)
	}
	if eval[bool](w, "'hacked' in window") {
		t.Error("a script of what was said ran")
	}
	frame := b.newWindow(p.at, "/healthz")
	frame.down(true)
	eval[any](frame, "document.body.appendChild(Object.assign(document.createElement('iframe'), {src: '/'})).onload "+
		"= e => { window.framed = true }")
	frame.until("the frame", "window.framed")
	if eval[bool](frame, "(() => { try { return Boolean(frames[0].document.getElementById('chat')) } catch { return "+
		"false } })()") {
		t.Error("the page can be framed")
	}
}

// TestPagesAreAccessible checks each page, empty and filled, with axe-core.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_APPROVAL_TIMEOUT=2h")
	chat := b.newWindow(p.at, "/")
	chat.shows("Connected")
	chat.inspect("chat-empty")
	chat.as(1280, 800, "light")
	for _, text := range []string{"hello", "calc 2+3*4", "note add milk"} {
		chat.say(text)
	}
	chat.press("Approve")
	chat.shows("Done: “milk”")
	chat.say("note add " + strings.Repeat("averylongwordwithoutend", 10))
	chat.shows("Approval needed")
	chat.inspect("chat")
	chat.as(1280, 800, "light")
	chat.press("Deny…")
	chat.inspect("chat-deny")
	chat.as(1280, 800, "light")
	chat.say(`call people.ask {"question":"Which one?","schema":{"enum":["a","b"]}}`)
	p.until("the question", p.app, func() bool { return len(p.approvals(core.Open)) == 2 })
	chat.say("call people.ask " + orderQuestion)
	chat.until("the form", "document.querySelector('.answer textarea')")
	chat.inspect("chat-question")
	for _, page := range []string{"approvals", "sessions", "queue"} {
		b.newWindow(p.at, "/"+page).inspect(page)
	}
	question := b.newWindow(p.at, "/approvals/"+string(p.approvals(core.Open)[0].ID))
	question.down(true) // a refusal's status is an error in the browser's log
	question.run(chromedp.SendKeys(chromedp.CSS(".answer input[type=text]"), "x"),
		chromedp.SendKeys(chromedp.CSS(".answer input[type=number]"), "3"))
	eval[any](question, "document.querySelector('.answer input[type=radio]').click()")
	question.press("Answer")
	question.shows("This needs 2 characters or more")
	question.inspect("question-refused")
	approval := b.newWindow(p.at, "/approvals/"+string(p.approvals(core.Open)[2].ID)) // below the two questions
	approval.inspect("approval")
	locked := newEngine(t, sqliteFile, []string{"ann!=" + annsToken})
	login := newBrowser(t).newWindow(locked.at, "/")
	login.run(chromedp.WaitVisible(chromedp.CSS("input[type=password]")))
	login.inspect("login")
	login.logIn(annsToken)
	login.shows("Connected")
	login.draft("calc 2+3")
	login.press("Log out")
	login.shows("Shall this be sent before you log out?")
	login.inspect("log-out")
	login.answer("Stay")
	login.down(true) // the status of a refusal is an error in the browser's log
	login.run(command(network.ClearBrowserCookies, cdp.Empty{}))
	login.say("calc 2+3")
	login.shows("You are logged out here")
	login.inspect("logged-out")
}

// TestABrowserChangesArguments: beside the list of approvals. What is refused is still there, and the call runs as
// changed.
func TestABrowserChangesArguments(t *testing.T) {
	t.Parallel()
	asks, decides := newBrowser(t), newBrowser(t)
	policy := "GATEHOUSE_APPROVAL_POLICY=" + policyFile(t, editable("openharness:bob"))
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken}, policy)
	ann := asks.newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	ann.say("note add milk")
	ann.shows("Approval needed")
	bob := decides.newWindow(p.at, "/approvals")
	bob.logIn(bobsToken)
	bob.as(390, 844, "light")
	bob.until("the script", "document.querySelector('.settings')?.hidden === false")
	bob.as(1280, 800, "light")
	bob.until("the card beside the list", "document.querySelector('.detail a.button[href*=\"edit=\"]')")
	bob.down(true) // a refusal's status is an error in the browser's log
	bob.key("e")
	bob.until("the field", "document.activeElement.name === 'argument.text'")
	alone := decides.newWindow(p.at, "/approvals/"+string(p.approvals(core.Open)[0].ID)+"?edit=1")
	alone.shows("Change the arguments")
	alone.inspect("approval-edit")
	eval[any](bob, "document.activeElement.value = 'oat milk'")
	bob.as(390, 844, "light")
	bob.until("a narrow window keeps the form", "document.activeElement.value === 'oat milk' && "+
		"document.activeElement.checkVisibility()")
	bob.as(1280, 800, "light")
	bob.until("and a wide one", "document.querySelector('.detail [name=\"argument.text\"]').value === 'oat milk'")
	bob.press("As JSON")
	change := func(arguments string) {
		bob.until("the JSON", "document.querySelector('.detail textarea[name=changed]')")
		eval[any](bob, "document.querySelector('textarea[name=changed]').value = "+quoted(arguments))
		bob.press("See what changes")
	}
	change(`{"text": butter}`)
	bob.shows("nothing was changed")
	refused := quoted(`{"text": butter}`)
	bob.until("the form with what was refused", "document.querySelector('textarea[name=changed]')?.value === "+refused)
	change(`{"text": "butter"}`)
	bob.until("what changes", "document.querySelector('.diff del')?.textContent === 'milk' && "+
		"document.querySelector('.diff ins')?.textContent === 'butter'")
	bob.press("Change")
	ann.shows("Changed by")
	bob.until("the changed card", "document.querySelector('.detail .card:not(:has(.changing))')?.innerText.includes("+
		"'Add “butter” to the note book.')")
	bob.press("Approve")
	ann.shows("An approver changed the arguments to")
}

// TestABrowserAsksAgain: for what expired, in the chat and on the page of approvals.
func TestABrowserAsksAgain(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_APPROVAL_TIMEOUT=1s")
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("note add milk")
	w.shows("Expired")
	w.press("Ask again")
	w.until("the second card", "document.querySelectorAll('.card.closed').length === 2")
	page := b.newWindow(p.at, "/approvals/"+string(p.approvals(core.Expired)[0].ID))
	page.press("Ask again")
	w.until("the third card", "document.querySelectorAll('.card').length === 3")
}
