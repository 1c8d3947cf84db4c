package console_test

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
)

// answer has each kind of block, an address that is longer than a line, and what must not reach the terminal.
const answer = `# Refunds of *today*

Three of **four** refunds are done, see [the list](https://shop.example/refunds?day=2026-11-28) and
` + "`shop.refund`" + `. The last one waits for an approval.

1. 日本語の文章はどこでも折り返すことができるので、行の終わりで折り返されます。
2. run:
   ` + "```sh\n   curl -s https://shop.example/refund | jq '.[] | select(.state == \"open\") | .id'\n\texit\n   ```" + `
3. - [x] a **task**
   - [ ] another

> The shop says:
> all is well

| id | amount | why |
|---|--:|---|
| a1 | 12.50 | it arrived broken |
| a2 | 7.00 | it never arrived, and the customer has written three times since the day before yesterday |

---

https://shop.example/a/very/long/address/that/has/no/place/to/break/it/in/sixty/columns/of/a/terminal

~~` + "\x1b[2J\u202e" + `~~ approval> approve?
`

// replied is what a prompt of a width prints of a reply.
func replied(t *testing.T, text string, columns uint16, noColor bool) string {
	t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer ptm.Close()
	defer tty.Close()
	if err := pty.Setsize(ptm, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	return repliedAt(t, tty, ptm, text, noColor)
}

const endOfReply = "theend"

func repliedAt(t fataler, tty, ptm *os.File, text string, noColor bool) string {
	t.Helper()
	c := console.New(console.Options{In: tty, Out: tty, TTY: true, NoColor: noColor})
	read := make(chan string)
	go func() {
		var all strings.Builder
		for p := make([]byte, 4096); !strings.Contains(all.String(), endOfReply+"\r\n"); {
			n, err := ptm.Read(p)
			if err != nil {
				break
			}
			all.Write(p[:n])
		}
		read <- all.String()
	}()
	for _, text := range []string{text, endOfReply} {
		post := core.Post{Kind: core.PostReply, Text: text}
		if _, _, err := c.Post(t.Context(), core.Delivery{Post: post}); err != nil {
			t.Fatalf("%v", err)
		}
	}
	end := "\n" + map[bool]string{true: "bot>", false: "\x1b[36mbot>\x1b[0m"}[noColor] + " " + endOfReply
	all, _, _ := strings.Cut(strings.ReplaceAll(<-read, "\r\n", "\n"), end)
	return all
}

// TestDrawn compares a reply at a prompt with testdata: narrow and wide, with colours and without.
func TestDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		columns uint16
		noColor bool
	}{"60": {60, false}, "140": {140, false}, "60-nocolor": {60, true}, "140-nocolor": {140, true}} {
		t.Run(name, func(t *testing.T) {
			got := replied(t, answer, c.columns, c.noColor)
			adaptertest.GoldenText(t, "reply-"+name+".txt", []byte(strings.ReplaceAll(got, "\x1b", "␛")))
			for _, l := range strings.Split(plain(got), "\n") {
				if wide := cellsIn(l); wide > int(c.columns) && !strings.Contains(l, "https://") {
					t.Errorf("%q has %d columns", l, wide)
				}
			}
		})
	}
}

func cellsIn(text string) (n int) {
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

// TestLaw8_NoLineOfAReplyBeginsAtTheEdge of a terminal, however narrow it is: so none imitates a card or a prompt. And
// all of its letters are there.
func TestLaw8_NoLineOfAReplyBeginsAtTheEdge(t *testing.T) {
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer ptm.Close()
	defer tty.Close()
	rapid.Check(t, func(t *rapid.T) {
		text, cols := adaptertest.AnyMarkdown(t), rapid.IntRange(22, 100).Draw(t, "columns")
		if err := pty.Setsize(ptm, &pty.Winsize{Rows: 24, Cols: uint16(cols)}); err != nil {
			t.Fatal(err)
		}
		got := repliedAt(t, tty, ptm, text, true)
		for i, l := range strings.Split(got, "\n") {
			if i == 0 && !strings.HasPrefix(l, "bot>") || i > 0 && l != "" && !strings.HasPrefix(l, "     ") {
				t.Fatalf("%q is printed as\n%s\nwhose line %q is outside of the frame", text, got, l)
			}
			if strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) }) {
				t.Fatalf("%q is printed with a control character: %q", text, l)
			}
		}
		if strings.Contains(text, "|") { // a table that is a list of its rows repeats its heads
			return
		}
		if want, got := letters(printedInPipe(t, text)), letters(got); want != got {
			t.Fatalf("%q is printed as\n%s\n, without all of its letters, %q", text, got, want)
		}
	})
}

func printedInPipe(t fataler, text string) string {
	var out strings.Builder
	c := console.New(console.Options{In: strings.NewReader(""), Out: &out})
	if _, _, err := c.Post(t.Context(), core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}); err != nil {
		t.Fatalf("%v", err)
	}
	return out.String()
}
