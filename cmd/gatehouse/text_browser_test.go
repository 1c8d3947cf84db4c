package main

import (
	"testing"
)

// markdown is a reply with what is hard to show: headings that leave out a level, code, a wide table, letters that run
// from the right, and a word without an end.
const markdown = "so it is\n\n#### What happens\n\n# Later\n\n1. one\n   - two\n\n" +
	"```go\n// A comment.\nfunc main() {\n\treturn \"no\" + 5\n}\n```\n\n```\nno language\n```\n\n" +
	"| Host | Role | Load | Since | Version | What it does |\n|---|---|--:|---|---|---|\n" +
	"| db-7 | primary | 0.71 | Monday | 16.4 | takes all writes of the shop, and answers for them |\n\n> Quoted.\n\n" +
	"## שלום עולם\n\nזה טקסט מימין לשמאל.\n\n- אחד\n- שניים\n\n" +
	"awordwithoutendawordwithoutendawordwithoutendawordwithoutendawordwithoutend\n"

// TestRepliesAreReadable: headings come in order, code has its language, colours and a button that copies it byte for
// byte, what is wide scrolls by itself, also at 320 px, and each block has the direction of its letters.
func TestRepliesAreReadable(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t, "GATEHOUSE_AGENT=echo")
	w := b.newWindow(p.at, "/")
	w.as(320, 640, "light")
	w.shows("Connected")
	w.writes(markdown)
	w.until("the reply", "document.querySelector('.reply .code')")
	for what, holds := range map[string]string{
		"headings come in order": `[...document.querySelectorAll('.reply :is(h3, h4, h5, h6)')].map(h =>
			h.localName).join() === 'h3,h3,h4'`,
		"a tab is four wide": `getComputedStyle(document.querySelector('.reply pre')).tabSize === '4'`,
		"letters from the right begin there": `
			getComputedStyle(document.querySelector('.reply h4')).direction === 'rtl' &&
			getComputedStyle([...document.querySelectorAll('.reply ul')].at(-1)).direction === 'rtl'`,
		"the page is no wider than the window": `document.documentElement.scrollWidth <= 320 &&
			document.querySelector('#log').scrollWidth <= document.querySelector('#log').clientWidth`,
		"a wide table scrolls": `document.querySelector('.reply .table').scrollWidth > document.querySelector(
			'.reply .table').clientWidth`,
		"the language is named": `
			/go/.test(getComputedStyle(document.querySelector('.reply .code'), '::before').content)`,
	} {
		if !eval[bool](w, holds) {
			t.Errorf("it is not so that %s", what)
		}
	}
	eval[any](w, "document.querySelector('.reply .code').scrollIntoView()")
	w.until("the code has colours",
		"['comment', 'word', 'string', 'number'].every(k => CSS.highlights.get('code-' + k)?.size)")
	// a browser without a window has no clipboard to read
	eval[any](w, "navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }")
	eval[any](w, "document.querySelector('.reply .copy').click()")
	w.shows("Copied")
	const code = "// A comment.\nfunc main() {\n\treturn \"no\" + 5\n}\n"
	if got := eval[string](w, "copied"); got != code {
		t.Errorf("what is copied is %q", got)
	}
	if eval[string](w, "document.querySelector('#news').textContent") != "Copied" {
		t.Error("who can't see it is not told that the code was copied")
	}
}
