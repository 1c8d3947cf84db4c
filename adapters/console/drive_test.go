package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
	"gatehouse/core/greeting"
)

// until reads until the terminal shows a text, which it may break, and nothing more is on its way.
func (s *screen) until(v *vt, text string) {
	s.t.Helper()
	end := time.After(10 * time.Second)
	for !strings.Contains(strings.Join(strings.Fields(v.String()), " "), text) {
		select {
		case p, ok := <-s.text:
			if !ok {
				s.t.Fatalf("the terminal was closed before %q; it shows\n%s", text, v)
			}
			v.print(string(p))
		case <-end:
			s.t.Fatalf("%q is not shown; the terminal shows\n%s", text, v)
		}
	}
	s.settles(v)
}

// TestADriveOfTheTerminal compares what a person sees of a conversation with testdata, on a narrow terminal and a wide
// one, with colours and without: the greeting, /help, an answer, cards, a question, a notice, and each kind of error.
func TestADriveOfTheTerminal(t *testing.T) {
	for _, columns := range []int{60, 140} {
		for _, noColor := range []bool{false, true} {
			name := fmt.Sprintf("drive-%d%s.txt", columns, map[bool]string{true: "-nocolor"}[noColor])
			t.Run(name, func(t *testing.T) {
				adaptertest.GoldenText(t, name, []byte(drive(t, columns, noColor)))
			})
		}
	}
}

// drive is the whole conversation as the terminal shows it, with what each part looks like.
func drive(t *testing.T, columns int, noColor bool) string {
	sc := newScreen(t)
	if err := pty.Setsize(sc.ptm, &pty.Winsize{Rows: 24, Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	c := newGateway(t, console.Options{In: sc.tty, Out: sc.tty, TTY: true, NoColor: noColor, Greeting: hello})
	c.hold = func() {}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context(), c.accept) }()
	v := newVT(columns)
	sc.until(v, "you> ")
	says := func(line, then string) {
		t.Helper()
		sc.keys(line + "\r")
		sc.until(v, then)
	}
	shows := func(then string, p core.Post) {
		t.Helper()
		c.post(p)
		sc.until(v, then)
	}

	sc.keys("/help\r")
	sc.until(v, "control: help")
	shows("the next line answers it.", core.Post{Kind: core.PostNotice, Text: console.Help})
	says("what was refunded?", "you said what was refunded?")
	shows("approval> approve?", core.Post{Kind: core.PostReply, Text: answer})
	says("note milk, and bread, and all that the guests of the day after tomorrow might like",
		"answer y, n or n REASON")
	says("y", "done with")
	says("note tea", "wants your approval: Add tea")
	says("n not today", "denied by Ann")
	wipe := wipes("a-disk", "the disk of the shop, with all orders of this year")
	c.cards["disk"] = &wipe
	c.draw(wipe)
	sc.until(v, "answer approve")
	says("y", "To approve this, type approve.")
	says("approve", "approved by Ann: Wipe")
	says("ask "+sizes, "answer with a number or a title")
	says("3", "That is no answer")
	says("2", `got "m"`)
	shows("one of them", core.Post{Kind: core.PostNotice,
		Text: "The rules for this have changed, so I need an approval again; another rule fits, or one of them"})
	for _, text := range []string{
		"I can't do that: the order 17 is not known. Say which one you mean.",
		"Something is not available right now. Your message is kept; please try again in a minute.",
		"This conversation can't go on. Type /new to start a new one.",
	} {
		shows(text[len(text)-9:], core.Post{Kind: core.PostError, Text: text})
	}
	sc.keys("\x04")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return v.styled()
}

var hello = greeting.Greeting{
	Agent: "Shop agent", Model: "gpt-5",
	Text:     "I answer questions about the orders of the shop, and refund what people send back.",
	Examples: []string{"Which orders wait?", "Refund 12.50 to cus_1"},
}
