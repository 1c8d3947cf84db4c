package main

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// media sets how the page is shown: as "print" or "", with features such as forced-colors.
func (w *window) media(kind string, features ...string) {
	w.t.Helper()
	p := emulation.SetEmulatedMediaParams{Media: kind}
	for _, f := range features {
		name, value, _ := strings.Cut(f, "=")
		p.Features = append(p.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	w.run(command(emulation.SetEmulatedMedia, p))
}

// writes puts a text of several lines into the composer, and sends it by the button.
func (w *window) writes(text string) {
	w.t.Helper()
	eval[any](w, "document.querySelector('#message').value = "+quoted(text)+"; document.querySelector('#send').click()")
}

// inView reports whether the whole of an element, or its top, is in the conversation's view.
const inView = `(e, whole) => {
	const r = e.getBoundingClientRect(), v = document.querySelector('#log').getBoundingClientRect();
	return r.top >= v.top - 1 && (whole ? r.bottom <= v.bottom + 1 : r.top < v.bottom);
}`

// TestWhatComesIsShownFromItsBeginning, on a phone: a card that is higher than the phone, and a long answer. No button
// of a decision is ever in view without what it decides about. Who reads further up is not moved.
func TestWhatComesIsShownFromItsBeginning(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(360, 560, "light")
	w.shows("Connected")
	w.say("note add " + strings.TrimSpace(strings.Repeat("A note that goes on. ", 30)))
	w.until("the card", "document.querySelector('.card')?.offsetHeight > 700")
	w.until("the beginning of the card is in view", "("+inView+")(document.querySelector('.card .summary'), true)")
	if !eval[bool](w, "document.querySelector('.card pre').translate === false && "+
		"document.querySelector('.card .asks').translate === false") {
		t.Error("a browser may translate the arguments")
	}
	alone := eval[string](w, `(async () => {
		const log = document.querySelector('#log'), summary = document.querySelector('.card .summary');
		let seen = 0;
		for (let at = 0; at <= log.scrollHeight - log.clientHeight; at += 20) {
			log.scrollTop = at;
			await new Promise(requestAnimationFrame);
			for (const button of document.querySelectorAll('.card .decision button, .card .decision summary')) {
				if (!button.offsetParent || !(`+inView+`)(button, true)) continue;
				seen++;
				const r = summary.getBoundingClientRect();
				const top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2);
				if (!(`+inView+`)(summary, true) || !summary.contains(top)) return button.textContent + ' at ' + at;
			}
		}
		return seen ? '' : 'no button was seen';
	})()`)
	if alone != "" {
		t.Errorf("a button is in view without the summary: %s", alone)
	}
	w.run(chromedp.Reload())
	w.until("the beginning of the card is in view after a reload",
		"document.querySelector('#log').ariaBusy !== 'true' && ("+inView+
			")(document.querySelector('.card .summary') ?? document.body, true)")

	echo := newLocal(t, "GATEHOUSE_AGENT=echo")
	w = b.newWindow(echo.at, "/")
	w.as(360, 560, "light")
	w.shows("Connected")
	w.writes(strings.Repeat("A long text. ", 150))
	w.until("the reply", "document.querySelector('.reply')?.offsetHeight > 700")
	w.until("its beginning is in view", "("+inView+")(document.querySelector('.reply .by'), true)")

	const place = "[...document.querySelectorAll('.item')].map(e => e.getBoundingClientRect().top)[0]"
	eval[any](w, "document.querySelector('#log').scrollTop = 100")
	before := eval[float64](w, place)
	other := b.newWindow(echo.at, "/")
	other.shows("Connected")
	other.say("something else")
	w.until("what is new is told", "!document.querySelector('#latest').hidden")
	w.until("the second reply", "document.querySelectorAll('.reply').length === 2")
	if after := eval[float64](w, place); after != before {
		t.Errorf("the reader was moved from %v to %v", before, after)
	}
	w.press("New messages below")
	w.until("what is new is in view", "("+inView+")([...document.querySelectorAll('.said')].at(-1), true)")
}

// TestAPageIsPrintedAsAWhole: over as many sheets as the conversation takes.
func TestAPageIsPrintedAsAWhole(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	for n := range 4 {
		w.writes(fmt.Sprintf("%d: %s", n, strings.Repeat("A long text for paper.\n", 60)))
		w.until("the reply", fmt.Sprintf("document.querySelectorAll('.reply').length === %d", n+1))
	}
	pdf, err := chromedp.Run(w.ctx, chromedp.PrintToPDF())
	noErr(t, err)
	// 8 texts of 60 lines, of which a sheet takes fewer
	if sheets := bytes.Count(pdf, []byte("/Type /Page\n")); sheets < 8 {
		t.Errorf("the conversation is printed on %d sheets", sheets)
	}
	w.media("print")
	if cut := eval[string](w, `[...document.querySelectorAll('#log, #log *')].filter(e =>
		e.scrollHeight > e.clientHeight + 1 && getComputedStyle(e).overflowY !== 'visible').map(e =>
		e.outerHTML.slice(0, 80)).join()`); cut != "" {
		t.Errorf("on paper this is cut off: %s", cut)
	}
	if eval[bool](w, "Boolean(document.querySelector('#composer').offsetParent)") {
		t.Error("the composer is printed")
	}
}

// TestForcedColoursKeepWhatTheySay: who said something, which page this is, and whether it is connected.
func TestForcedColoursKeepWhatTheySay(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.media("", "forced-colors=active")
	w.shows("Connected")
	w.say("hello")
	w.until("a reply", "document.querySelector('.reply')")
	for what, holds := range map[string]string{
		"a bubble has an outline": `parseFloat(getComputedStyle(document.querySelector(
			'.item.said')).borderTopWidth) > 0`,
		"the tab of this page is told from the others": `new Set([...document.querySelectorAll('.top nav a')].map(a =>
			getComputedStyle(a).textDecorationLine)).size === 2`,
		"the dot of the connection is drawn": `parseFloat(getComputedStyle(document.querySelector(
			'#connection .dot')).borderTopWidth) > 0`,
	} {
		if !eval[bool](w, holds) {
			t.Errorf("with forced colours it is not so that %s", what)
		}
	}
}

// TestAnEnlargedPageKeepsItsComposer: at 400 % of a window of 1280 × 1024, a wheel over the conversation leads to it.
func TestAnEnlargedPageKeepsItsComposer(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(320, 256, "light")
	w.shows("Connected")
	w.say("note add milk")
	w.shows("Approval needed")
	eval[any](w, "document.activeElement.blur(); scrollTo(0, 0)")
	w.until("the composer is in view", `(() => {
		const log = document.querySelector('#log').getBoundingClientRect();
		const r = document.querySelector('#composer').getBoundingClientRect();
		return r.top >= log.bottom - 1 && r.bottom <= innerHeight + 1 && log.height > 80;
	})() || (scrollBy(0, 40), false)`)
	if wide := eval[int](w, "document.documentElement.scrollWidth"); wide > 320 {
		t.Errorf("the page is %d px wide", wide)
	}
	if eval[string](w, "getComputedStyle(document.querySelector('#log')).overscrollBehaviorY") != "auto" {
		t.Error("a wheel over the conversation never scrolls the page")
	}
}

// TestEnterOnATouchScreenBeginsALine: its keyboard has no Shift+Enter. With a mouse, Enter sends.
func TestEnterOnATouchScreenBeginsALine(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.run(chromedp.EmulateViewport(390, 700, chromedp.EmulateMobile, chromedp.EmulateTouch), chromedp.Reload())
	w.shows("Connected")
	if !eval[bool](w, "matchMedia('(pointer: coarse)').matches") {
		t.Fatal("this is no touch screen")
	}
	const enter = `(() => { const e = new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true});
		document.querySelector('#message').dispatchEvent(e); return e.defaultPrevented; })()`
	w.run(chromedp.SendKeys(chromedp.CSS("#message"), "one"))
	if eval[bool](w, enter) {
		t.Error("Enter on a touch screen sends")
	}
	if hint := eval[string](w, "document.querySelector('#message').enterKeyHint"); hint != "enter" {
		t.Errorf("the key says %q", hint)
	}
	w.run(chromedp.EmulateReset())
	w.until("the mouse is back", "!matchMedia('(pointer: coarse)').matches")
	if !eval[bool](w, enter) {
		t.Error("Enter does not send")
	}
	w.until("the message", "document.querySelector('.item.said')")
}

// TestWhatScrollsShowsThatItDoes: the edge of a wide table is darker while there is more of it on that side.
func TestWhatScrollsShowsThatItDoes(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	w := b.newWindow(p.at, "/")
	w.as(400, 700, "light")
	w.shows("Connected")
	row := strings.Repeat("|value", 20) + "|\n"
	table := row + strings.Repeat("|-", 20) + "|\n" + row
	w.writes("at once\n\n" + table + "\n```\n" + strings.Repeat("a long line ", 20) + "\n```\n")
	for _, scrolls := range []string{".markup .table", ".markup pre"} {
		find := fmt.Sprintf("document.querySelector(%s)", quoted(scrolls))
		w.until("it is wide", find+"?.scrollWidth > 500")
		edge := func(to string) color.Color {
			t.Helper()
			at := eval[[]int](w, fmt.Sprintf(`(async () => { const e = %s; e.scrollIntoView(); e.scrollLeft = %s;
				await new Promise(requestAnimationFrame); const r = e.getBoundingClientRect();
				return [Math.floor(r.right) - 3, Math.floor(r.top) + 9]; })()`, find, to))
			shot, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
			noErr(t, err)
			drawn, err := png.Decode(bytes.NewReader(shot))
			noErr(t, err)
			return drawn.At(at[0], at[1])
		}
		more, _, _, _ := edge("0").RGBA()
		end, _, _, _ := edge("9999").RGBA()
		if more+0x1000 > end {
			t.Errorf("the right edge of %s is %x while there is more, and %x at the end", scrolls, more, end)
		}
	}
}
