package main

import (
	"bytes"
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// picture checks that there is a picture of what the window shows, of its size. With -update, a flag of storagetest, it
// is drawn anew.
func (w *window) picture(name string) {
	w.t.Helper()
	drawn, err := chromedp.Run(w.ctx, chromedp.CaptureScreenshot())
	noErr(w.t, err)
	path := filepath.Join("pictures", name)
	if flag.Lookup("update").Value.String() == "true" {
		noErr(w.t, os.WriteFile(path, drawn, 0o644))
	}
	kept, err := os.ReadFile(path)
	noErr(w.t, err)
	is, err := png.DecodeConfig(bytes.NewReader(kept))
	now, fault := png.DecodeConfig(bytes.NewReader(drawn))
	if err != nil || fault != nil || is.Width != now.Width || is.Height != now.Height {
		w.t.Errorf("%s is %dx%d, and the page %dx%d (%v, %v); run this test with -update", path, is.Width, is.Height,
			now.Width, now.Height, err, fault)
	}
}

// TestPicturesOfTheFirstPage shows on the page what the pictures of README.md do: a card that asks, and the same card
// decided.
func TestPicturesOfTheFirstPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.as(720, 780, "light")
	w.shows("Connected")
	w.say("note add milk")
	w.shows("Approval needed")
	w.picture("open.png")
	w.press("Approve")
	w.shows("Done: “milk”")
	w.until("the card is decided", "document.querySelector('.card.closed') && !document.querySelector('.card button')")
	w.picture("done.png")
}
