package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The environment of the tests in a real browser.
const (
	chromiumKey = "GATEHOUSE_TEST_CHROMIUM" // the path of Chromium; see .ci/chromium
	axeKey      = "GATEHOUSE_TEST_AXE"      // the path of axe-core; see .ci/axe
	picturesKey = "GATEHOUSE_TEST_PICTURES" // a folder for pictures of the pages; "" = a new one, which the log names
)

// browser is a browser with a profile of its own, which holds its logins.
type browser struct {
	t      *testing.T
	ctx    context.Context
	script string // what runs in a new tab before the page's own; "" = nothing
}

// chromium starts Chromium once for all tests; it ends with their process.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path := os.Getenv(chromiumKey)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-background-networking", true),
		chromedp.WSURLReadTimeout(patience))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

// newBrowser opens a profile in Chromium; the test is skipped without it.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if os.Getenv(chromiumKey) == "" {
		t.Skipf("SKIPPED: the web pages were not tested in a browser. Set %s to the path of Chromium.", chromiumKey)
	}
	ctx, err := chromium()
	noErr(t, err)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	b.run(chromedp.Navigate("about:blank"))
	return b
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	noErr(b.t, chromedp.Do(b.ctx, actions...))
}

// window is a tab. What a page must not do is a failure of the test: requests elsewhere, errors of scripts, what its
// policy forbids.
type window struct {
	*browser
	at string

	mu     sync.Mutex
	faults []string
	broken bool // the server is down: failed requests are no fault
}

// newWindow opens a tab at a path.
func (b *browser) newWindow(at, path string) *window {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	w := &window{browser: &browser{t: b.t, ctx: ctx}, at: at}
	b.t.Cleanup(w.blameless)
	err := chromedp.Listen(ctx, func(event any) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, at+"/") && !strings.HasPrefix(url, "data:") &&
				!strings.HasPrefix(url, "about:") {
				w.faults = append(w.faults, "a request to "+url)
			}
		case *runtime.EventExceptionThrown:
			d := e.ExceptionDetails
			fault := fmt.Sprintf("an exception: %s, %s:%d", d.Text, d.URL, d.LineNumber+1)
			if d.Exception != nil {
				fault += " " + d.Exception.Description
			}
			w.faults = append(w.faults, fault)
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" {
				w.faults = append(w.faults, fmt.Sprintf("an error at the console: %s", e.Args[0].Value))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError && !w.broken {
				w.faults = append(w.faults, "an error in the log: "+e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	noErr(b.t, err)
	w.run(command(network.Enable, network.EnableParams{}), beforehand(b.script), chromedp.Navigate(at+path))
	return w
}

// blameless fails the test if the page did what it must not do.
func (w *window) blameless() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		if strings.HasSuffix(f, "/favicon.ico") {
			continue // the browser asks for it by itself, now and then; there is none
		}
		w.t.Errorf("the page made %s", f)
	}
}

// command is a command of the browser's protocol that returns nothing.
func command[P any](c cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// down says whether the server is down.
func (w *window) down(broken bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = broken
}

// eval evaluates JavaScript.
func eval[T any](w *window, script string) T {
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil && !errors.Is(err, chromedp.ErrJSUndefined) && !errors.Is(err, chromedp.ErrJSNull) {
		w.t.Fatal(err)
	}
	return v
}

// until waits until a JavaScript condition holds.
func (w *window) until(what, condition string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for {
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
		if holds && err == nil {
			return
		}
		if ctx.Err() != nil {
			w.t.Fatalf("%s did not happen; the page shows:\n%s", what, eval[string](w, "document.body.innerText"))
		}
		timer := time.NewTimer(20 * time.Millisecond) // an error is that of a page that is being replaced
		<-timer.C
	}
}

// shows waits until a text can be read.
func (w *window) shows(text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("the text %q", text), fmt.Sprintf("document.body.innerText.includes(%s)", quoted(text)))
}

// count is how often a text can be read.
func (w *window) count(text string) int {
	w.t.Helper()
	return eval[int](w, fmt.Sprintf("document.body.innerText.split(%s).length - 1", quoted(text)))
}

// press clicks the first enabled button with a label, once it is there.
func (w *window) press(label string) {
	w.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll('button, summary.button')].find(b => b.textContent.trim() === "+
		"%s && !b.disabled && b.offsetParent)", quoted(label))
	w.until("the button "+label, find)
	eval[any](w, find+".click()")
}

// say types a message into the chat, and sends it with Enter.
func (w *window) say(text string) {
	w.t.Helper()
	w.run(chromedp.SendKeys(chromedp.CSS("#message"), text))
	// chromedp's own Enter would also type a line break that the page has prevented.
	eval[bool](w, "document.querySelector('#message').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', "+
		"bubbles: true, cancelable: true}))")
}

// logIn logs in with a token.
func (w *window) logIn(token string) {
	w.t.Helper()
	w.run(chromedp.SendKeys(chromedp.CSS("input[type=password]"), token+"\r"))
	w.until("the login", "!location.pathname.endsWith('/login')")
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// as sets the size of the window and the colours that its person prefers.
func (w *window) as(width, height int64, scheme string) {
	w.t.Helper()
	w.run(chromedp.EmulateViewport(width, height, chromedp.EmulateScale(1)),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			},
		}))
}

// axeRun runs axe-core and lists what it finds.
const axeRun = `axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(
	r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html.slice(0, 200) + ' ' + n.failureSummary)])))`

// pictures is the folder for pictures of the pages.
var pictures = sync.OnceValues(func() (string, error) {
	if folder := os.Getenv(picturesKey); folder != "" {
		return folder, os.MkdirAll(folder, 0o755)
	}
	return os.MkdirTemp("", "gatehouse-pictures-")
})

// inspected counts the pages that were inspected.
var inspected atomic.Int32

// inspect checks a page for accessibility and for its width, in both schemes, on a phone and on a desktop, and keeps
// pictures. Unless it is wide, it looks at each page in one way, and at the next page in the next way.
func (w *window) inspect(name string) {
	w.t.Helper()
	turn := int(inspected.Add(1))
	axe, err := os.ReadFile(os.Getenv(axeKey))
	if err != nil {
		w.t.Skipf("SKIPPED: the pages were not checked for accessibility. Set %s to the path of axe-core: %v", axeKey,
			err)
	}
	folder, err := pictures()
	noErr(w.t, err)
	w.t.Logf("a picture of %s is in %s", name, folder)
	ways := 0
	for _, scheme := range []string{"light", "dark"} {
		for _, size := range [][2]int64{{390, 844}, {1440, 900}} {
			if ways++; !wide(true, ways%4 == turn%4) {
				continue
			}
			w.as(size[0], size[1], scheme)
			where := fmt.Sprintf("%s-%s-%d", name, scheme, size[0])
			drawn := eval[string](w, settled)
			if drawn != "" {
				w.t.Errorf("%s: wider than the window: %s", where, drawn)
			}
			eval[any](w, string(axe)+"; null")
			if found := eval[string](w, axeRun); found != "[]" {
				w.t.Errorf("%s: %s", where, found)
			}
			w.keeps(where)
		}
	}
}

// keeps keeps a picture of what the window shows.
func (w *window) keeps(name string) {
	w.t.Helper()
	folder, err := pictures()
	noErr(w.t, err)
	png, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	noErr(w.t, err)
	noErr(w.t, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}

// to goes to another page.
func (w *window) to(path string) {
	w.t.Helper()
	w.run(chromedp.Navigate(w.at + path))
}

// settled waits until the page is drawn at its size, and lists what is wider than the window and can't be scrolled
// alone.
const settled = `(async () => {
	await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	const scrolls = (e) => e && (e !== document.documentElement && e !== document.body &&
		getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
	const page = document.documentElement, log = document.querySelector('#log');
	const wide = [...document.querySelectorAll('body *')].filter(e =>
		e.getBoundingClientRect().right > innerWidth + 1 &&
		!scrolls(e.parentElement) && !e.closest('.skip') && e.checkVisibility()).map(e => e.outerHTML.slice(0, 120));
	if (page.scrollWidth > innerWidth) wide.push('the page');
	if (log && log.scrollWidth > log.clientWidth + 1) wide.push('the conversation');
	return wide.join('; ');
})()`
