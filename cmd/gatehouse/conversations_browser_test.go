package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

// rowOf finds the row of a conversation by its title.
func rowOf(title string) string {
	return fmt.Sprintf("[...document.querySelectorAll('#list li')].find(li => li.querySelector('.title').textContent "+
		"=== %s)", quoted(title))
}

// act opens what can be done with a conversation, and presses it.
func (w *window) act(title, label string) {
	w.t.Helper()
	w.until("the conversation "+title, rowOf(title))
	eval[any](w, rowOf(title)+".querySelector('.menu').click()")
	w.press(label)
}

// TestTheFirstScreenHasExamplesThatWork: each of the demo's is sent by a press and understood, and one of them asks for
// an approval.
func TestTheFirstScreenHasExamplesThatWork(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(1280, 800, "light")
	w.shows("Demo agent")
	w.shows("waits until an approver allows it")
	n := eval[int](w, "document.querySelectorAll('.example').length")
	for i := range n {
		w.run(chromedp.Navigate(fmt.Sprintf("%s/?session=try%d", p.at, i)))
		w.until("the first screen", "document.querySelector('#welcome')?.offsetParent")
		eval[any](w, fmt.Sprintf("document.querySelectorAll('.example')[%d].click()", i))
		w.until("an answer", "document.querySelector('.reply, .card')")
		if w.count("did not understand") > 0 ||
			eval[bool](w, "Boolean(document.querySelector('#welcome').offsetParent)") {
			t.Errorf("example %d: %s", i, eval[string](w, "document.querySelector('#log').innerText"))
		}
	}
	w.until("all are listed, and one waits",
		fmt.Sprintf("document.querySelectorAll('#list li').length === %d && "+
			"document.querySelectorAll('.waits').length === 1",
			n))
}

// TestConversationsAreListed: titles are the first words, the newest first; what is new is marked; a search narrows
// them; / opens the last one used, and a fresh one is another session.
func TestConversationsAreListed(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(1280, 800, "light")
	w.shows("Connected")
	w.say("note add milk for the long breakfast of a Sunday that nobody wants to end")
	w.shows("Approval needed")
	first := "note add milk for the long breakfast of a Sunday that nobody"
	w.until("the first title", rowOf(first))
	w.until("it is the page's title", "document.title.includes('note add milk')")
	eval[any](w, "document.querySelector('#fresh').click()")
	w.until("a fresh conversation", "document.querySelector('#welcome')?.offsetParent && location.search.length > 20")
	w.say("calc 1+1")
	w.until("an answer", "document.querySelector('.reply')")
	w.until("both, the newest first", `document.querySelectorAll('#list li').length === 2 &&
		document.querySelector('#list li .title').textContent === 'calc 1+1'`)
	w.until("the first one waits", rowOf(first)+".querySelector('.waits')")
	w.run(chromedp.SendKeys(chromedp.CSS("#search"), "MILK"))
	w.until("the search", "document.querySelectorAll('#list li').length === 1 && "+rowOf(first))
	another := b.newWindow(p.at, "/")
	another.until("the last one is opened", "document.querySelector('#chat').dataset.title === 'calc 1+1'")

	another.run(chromedp.Navigate(p.at + "/?session=web"))
	another.shows("Approval needed")
	w.say("calc 2+2")
	another.until("what is new is marked", rowOf("calc 1+1")+"?.querySelector('.mark:not(.waits)')")
	if all := eval[int](w, "document.querySelectorAll('#list .fresh').length"); all > 0 {
		t.Error("what is open is marked as new")
	}
	another.press("Approve")
	another.shows("approved by you")
	another.until("it waits no more", "!"+rowOf(first)+".querySelector('.waits')")
}

// TestAConversationIsRenamedAndDeleted in one tab, and the others learn of it. What is being written there stays.
func TestAConversationIsRenamedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	one, two := b.newWindow(p.at, "/?session=web"), b.newWindow(p.at, "/?session=web")
	one.as(1280, 800, "light")
	two.as(1280, 800, "light")
	one.shows("Connected")
	two.shows("Connected")
	one.say("note add milk")
	one.shows("Approval needed")
	one.act("note add milk", "Rename")
	two.act("note add milk", "Rename")
	for w, title := range map[*window]string{one: "Breakfast", two: "Supper"} {
		w.run(chromedp.SetValue(chromedp.CSS("#title"), title))
	}
	one.press("Save")
	one.until("the first name", rowOf("Breakfast"))
	two.press("Save")
	for _, w := range []*window{one, two} {
		w.until("the later name", rowOf("Supper")+"&& document.title.includes('Supper')")
	}

	one.down(true) // a refusal's status is an error in the browser's log
	one.act("Supper", "Delete")
	eval[any](one, "document.querySelector('#delete button[value=delete]').click()")
	one.shows("An approval of this conversation is still open.")
	eval[any](one, "document.querySelector('#delete').close()")
	one.press("Approve")
	one.shows("Done: “milk”")
	two.run(chromedp.SendKeys(chromedp.CSS("#message"), "half a sentence"))
	eval[any](one, rowOf("Supper")+".querySelector('.acts button:last-child').click()")
	eval[any](one, "document.querySelector('#delete button[value=delete]').click()")
	for _, w := range []*window{one, two} {
		w.shows("This conversation was deleted.")
		w.until("it is gone", "!"+rowOf("Supper")+" && !document.querySelector('.said, .reply, .card')")
	}
	if got := eval[string](two, "document.querySelector('#message').value"); got != "half a sentence" {
		t.Errorf("what was being written is %q", got)
	}
	box := core.ConversationID("openharness:oh/local/web")
	mail, err := p.store.ListMail(t.Context(), core.MailFilter{Mailbox: box})
	if err != nil || len(mail) > 0 {
		t.Errorf("left in the mailbox: %v, %v", mail, err)
	}
	if rec, err := p.store.LoadSession(t.Context(), box.Session(1), core.Writer{}); rec != nil || err != nil {
		t.Errorf("left of the session: %v, %v", rec, err)
	}
	two.say("!")
	two.until("it begins anew", rowOf("half a sentence!"))
}

// TestAnotherPersonsSessionIsEmpty: nobody lists, reads, renames or deletes another's.
func TestAnotherPersonsSessionIsEmpty(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann=" + annsToken, "bob=" + bobsToken})
	ann := newBrowser(t).newWindow(p.at, "/")
	ann.logIn(annsToken)
	ann.shows("Connected")
	ann.say("calc 6*7")
	ann.until("an answer", "document.querySelector('.reply')")
	bob := newBrowser(t).newWindow(p.at, "/")
	bob.logIn(bobsToken)
	bob.run(chromedp.Navigate(p.at + "/?session=web"))
	bob.shows("Connected")
	bob.until("a first screen", "document.querySelector('#welcome')?.offsetParent")
	bob.down(true)
	for _, do := range []string{"rename", "delete"} {
		status := eval[int](bob, fmt.Sprintf(`fetch('/conversations', {method: 'POST', body: new URLSearchParams({
			as: 'bob', csrf: document.querySelector('#chat').dataset.token, do: %q, session: 'web', title: 'mine'})})
			.then((r) => r.status)`, do))
		if status != 404 {
			t.Errorf("%s is answered %d", do, status)
		}
	}
	if list := eval[string](bob, "fetch('/conversations').then((r) => r.text())"); strings.Contains(list, "calc") {
		t.Errorf("bob's list: %s", list)
	}
	ann.until("ann's stays", rowOf("calc 6*7"))
}

// TestEarlierMessagesAreLoaded while new ones come, and the reader is not moved.
func TestEarlierMessagesAreLoaded(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	for i := range 450 {
		content := fmt.Sprintf(`{"kind":"reply","text":"line %d"}`, i)
		_, err := p.store.PutMail(t.Context(), core.Mail{
			Mailbox: "openharness:oh/local/web", Key: fmt.Sprint("k", i), Content: []byte(content),
		})
		noErr(t, err)
	}
	w := b.newWindow(p.at, "/?session=web")
	w.as(1280, 800, "light")
	w.until("the last ones", "document.querySelectorAll('.reply').length === 200")
	w.until("it has settled", "!document.querySelector('#log').hasAttribute('aria-busy')")
	eval[any](w, `const log = document.querySelector('#log'); log.scrollTop = 100;
		window.topmost = () => [...document.querySelectorAll('.reply')].find((n) =>
			n.getBoundingClientRect().bottom > log.getBoundingClientRect().top);
		window.seen = topmost(); window.at = seen.getBoundingClientRect().top; null`)
	_, err := p.store.PutMail(t.Context(), core.Mail{
		Mailbox: "openharness:oh/local/web", Key: "new", Content: []byte(`{"kind":"reply","text":"line 450"}`),
	})
	noErr(t, err)
	w.until("earlier ones, and the new one", `document.querySelectorAll('.reply').length >= 401 &&
		[...document.querySelectorAll('.reply')].at(-1).innerText.includes('line 450')`)
	if moved := eval[float64](w, "Math.abs(seen.getBoundingClientRect().top - at)"); moved > 2 {
		t.Errorf("the reader was moved by %v px", moved)
	}
	w.until("all, in order, each once", `(document.querySelector('#log').scrollTop = 0,
		[...document.querySelectorAll('.reply')].map((n) => n.innerText.match(/line (\d+)/)?.[1]).filter(Boolean)
			.join() === [...Array(451).keys()].join())`)
	w.until("no more is offered", "!document.querySelector('.earlier').offsetParent")
}

// TestFilesAreUploaded: dropped ones go with the message; one that is refused says why, and can be removed.
func TestFilesAreUploaded(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	w := b.newWindow(p.at, "/")
	w.as(1280, 800, "light")
	w.shows("Connected")
	w.down(true)
	add := func(name, kind, content string) {
		eval[any](w, fmt.Sprintf(`{ const files = new DataTransfer();
			files.items.add(new File([%s], %s, {type: %s}));
			document.querySelector('.talk').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true,
				cancelable: true})); }; null`, content, quoted(name), quoted(kind)))
	}
	add("notes.txt", "text/plain", "'the secret of the house'")
	w.until("it is uploaded", "document.querySelector('#files .there')")
	eval[any](w, `{ const files = new DataTransfer();
		files.items.add(new File(['pasted'], 'clip.txt', {type: 'text/plain'}));
		document.querySelector('#message').dispatchEvent(new ClipboardEvent('paste', {clipboardData: files,
			bubbles: true, cancelable: true})); }; null`)
	w.until("what is pasted is uploaded, too", "document.querySelectorAll('#files .there').length === 2")
	add("tool.exe", "application/octet-stream", "new Uint8Array([77, 90, 0, 1, 2, 255, 254])")
	w.until("the refusal", "document.querySelector('#files .failed .why')?.textContent.includes('accepted')")
	add("large.txt", "text/plain", "'x'.repeat(Number(document.querySelector('#chat').dataset.upload) + 1)")
	w.shows("It is too large")
	w.until("it is not sent so", "document.querySelector('#send').disabled")
	eval[any](w, "document.querySelectorAll('#files .failed button').forEach((b) => b.click()); null")
	w.say("read this")
	w.until("an answer", "document.querySelector('.reply')")
	w.until("the chip has gone", "!document.querySelector('#files li')")
	w.until("its name stays", "document.querySelector('.said').innerText.includes('notes.txt')")
	sent := p.events(core.EventFilter{Conversation: "openharness:oh/local/web"})
	if len(sent) != 1 || !strings.Contains(string(sent[0].Payload), `"notes.txt"`) ||
		!strings.Contains(string(sent[0].Payload), `"clip.txt"`) {
		t.Errorf("the message is stored as %+v", sent)
	}
}

// TestTheLastMessageIsTakenBack: before its turn has begun it is replaced, after that the new one is a message of its
// own, and nothing that was answered changes.
func TestTheLastMessageIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h")
	w := b.newWindow(p.at, "/")
	w.as(1280, 800, "light")
	w.shows("Connected")
	up := func() {
		w.run(chromedp.Focus(chromedp.CSS("#message")))
		eval[any](w, "document.querySelector('#message').dispatchEvent(new KeyboardEvent('keydown', "+
			"{key: 'ArrowUp', bubbles: true, cancelable: true}))")
	}
	value := func() string { return eval[string](w, "document.querySelector('#message').value") }
	w.say("first")
	w.until("it is being answered", works)
	w.say("at once secnod")
	w.until("it is stored", "document.querySelectorAll('.said:not(.sending)').length === 2")
	up()
	if value() != "at once secnod" {
		t.Fatalf("the box has %q", value())
	}
	w.run(chromedp.SetValue(chromedp.CSS("#message"), "at once sec"))
	w.say("ond")
	w.until("it is replaced", "[...document.querySelectorAll('.said .text')].map((n) => n.innerText).join() "+
		"=== 'first,at once second'")
	w.press("Stop")
	w.until("its answer", "[...document.querySelectorAll('.reply')].some((n) => n.innerText.includes('second'))")
	if n := p.messagesOf("local", "web"); n != 2 || w.count("secnod") > 0 {
		t.Errorf("%d messages are stored; the page: %s", n, eval[string](w, "document.querySelector('#log').innerText"))
	}
	up()
	eval[any](w, "document.querySelector('#message')"+
		".dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))")
	if value() != "" {
		t.Errorf("Escape leaves %q", value())
	}
	up()
	w.say("!")
	w.until("a message of its own", "document.querySelectorAll('.said').length === 3")
	w.until("its answer", "[...document.querySelectorAll('.reply')].some((n) => n.innerText.includes('second!'))")
}

// TestAPhoneKeepsItsRoom: the bars take a fifth of the height at most, the list is a drawer, and nothing leaves the
// screen, at 320 px and enlarged twice.
func TestAPhoneKeepsItsRoom(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(390, 780, "light")
	w.shows("Connected")
	w.say("note add " + strings.Repeat("x", 80))
	w.shows("Approval needed")
	bars := eval[float64](w, `['header.top', '.bar', '.foot'].map((s) =>
		document.querySelector(s).getBoundingClientRect().height).reduce((a, b) => a + b) / innerHeight`)
	if bars > 0.2 {
		t.Errorf("the bars take %.0f %% of the height", bars*100)
	}
	w.press("Conversations")
	w.until("the drawer", "document.querySelector('#conversations').matches(':popover-open')")
	eval[any](w, "document.querySelector('#conversations').hidePopover()")
	for _, width := range []int64{320, 640} { // 640 at 200 %
		w.as(width, 640, "light")
		if wide := eval[int](w, "document.documentElement.scrollWidth"); wide > int(width) {
			t.Errorf("the page is %d px wide at %d", wide, width)
		}
	}
}

// TestTenThousandConversationsOpenQuickly, and are searched.
func TestTenThousandConversationsOpenQuickly(t *testing.T) {
	t.Parallel()
	p := newLocal(t)
	db, err := sql.Open("sqlite3", strings.TrimPrefix(p.url, "sqlite:"))
	noErr(t, err)
	defer db.Close()
	_, err = db.Exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
		insert into mailboxes (mailbox, seq, person, title, changed_at)
		select 'openharness:oh/local/many' || i, 1, 'openharness:local', 'Number ' || i || '.', i * 1000000 from n`)
	noErr(t, err)
	b := newBrowser(t)
	b.script = `addEventListener('DOMContentLoaded', () => new MutationObserver(() => {
		if (document.querySelector('#list li')) window.listed ??= performance.now();
	}).observe(document.body, {subtree: true, childList: true}))`
	w := b.newWindow(p.at, "/?session=other")
	w.as(1280, 800, "light")
	w.until("the list", "document.querySelectorAll('#list li').length === 50 && "+rowOf("Number 10000."))
	took := eval[float64](w, `(async () => { const began = performance.now();
		await (await fetch('/conversations')).json(); return performance.now() - began; })()`)
	t.Logf("10,000 conversations: the list is there after %.0f ms, %.0f ms of it the server's",
		eval[float64](w, "window.listed"), took)
	if most := wide(200.0, 2000); took > most {
		t.Errorf("a part of the list took %.0f ms, not %.0f", took, most)
	}
	w.press("Show more")
	w.until("more of it", "document.querySelectorAll('#list li').length === 100")
	w.run(chromedp.SendKeys(chromedp.CSS("#search"), "number 77."))
	w.until("the one that is looked for", "document.querySelectorAll('#list li').length === 1 && "+rowOf("Number 77."))
}
