package console_test

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// screen is the person's side of a pseudo terminal.
type screen struct {
	t    *testing.T
	ptm  *os.File
	tty  *os.File
	text chan []byte
	seen bytes.Buffer
}

func newScreen(t *testing.T) *screen {
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	if err := pty.Setsize(ptm, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, ptm: ptm, tty: tty, text: make(chan []byte, 1024)}
	go func() {
		defer close(s.text)
		for {
			p := make([]byte, 4096)
			n, err := ptm.Read(p)
			if n > 0 {
				s.text <- p[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { ptm.Close(); tty.Close() })
	return s
}

// expect reads until the screen shows the words, after what was expected before.
func (s *screen) expect(words string) {
	s.t.Helper()
	end := time.After(10 * time.Second)
	for {
		if i := bytes.Index(s.seen.Bytes(), []byte(words)); i >= 0 {
			s.seen.Next(i + len(words))
			return
		}
		select {
		case p, ok := <-s.text:
			if !ok {
				s.t.Fatalf("the terminal was closed before %q; it shows %q", words, s.seen.String())
			}
			s.seen.Write(p)
		case <-end:
			s.t.Fatalf("%q is not shown; the terminal shows %q", words, s.seen.String())
		}
	}
}

func (s *screen) keys(keys string) {
	s.t.Helper()
	if _, err := s.ptm.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func state(t *testing.T, f *os.File) *term.State {
	t.Helper()
	s, err := term.GetState(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrompt(t *testing.T) {
	for end, keys := range map[string]string{
		"Ctrl-D": "\x04", "Ctrl-C": "\x03", "quit": "/quit\r", "end of context": "",
	} {
		t.Run(end, func(t *testing.T) {
			sc := newScreen(t)
			if !console.IsTerminal(sc.tty, sc.tty) || console.IsTerminal(strings.NewReader(""), sc.tty) {
				t.Error("a terminal is taken for another reader")
			}
			st := newGateway(t, console.Options{In: sc.tty, Out: sc.tty, TTY: true})
			st.hold = func() {}
			before := state(t, sc.tty)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- st.Run(ctx, st.accept) }()

			sc.expect("you> ")
			if reflect.DeepEqual(before, state(t, sc.tty)) {
				t.Error("the terminal is not in raw mode")
			}
			sc.keys("hellx\x7fo\r") // a key deleted
			sc.expect("\x1b[36mbot>\x1b[0m you said hello\r\n")
			sc.keys("\x1b[A again\r") // from the history
			sc.expect("you said hello again\r\n")
			sc.keys("note milk\r")
			sc.expect("┌ note.add wants your approval: Add milk")
			sc.expect("│\x1b[0m arguments: {\"text\":\"milk\"}\r\n")
			sc.expect("└\x1b[0m answer y, n or n REASON\r\n")
			sc.expect("you (y/n)> ")
			sc.keys("n not now\r")
			sc.expect("denied by Ann: Add milk (not now)")
			sc.expect("you> ")
			sc.keys("note tea\r")
			sc.expect("you (y/n)> ")
			sc.keys(keys)
			if keys == "" {
				cancel()
			}
			if err := <-ended; err != nil {
				t.Errorf("Run gave %v", err)
			}
			cancel()
			if !reflect.DeepEqual(before, state(t, sc.tty)) {
				t.Error("the terminal is not restored")
			}
			sc.expect("Add tea is still open; decide with: gatehouse approvals approve a-tea")
		})
	}
}

// withPrompt runs a console with a prompt and without a terminal, on the test's clock, and returns what it printed.
func withPrompt(t *testing.T, o console.Options, talk func(s *gateway, k *keyboard)) string {
	k := newKeyboard()
	o.In, o.TTY, o.NoColor = k, true, true
	s := newGateway(t, o)
	s.hold = func() { <-s.turn }
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context(), s.accept) }()
	synctest.Wait()
	talk(s, k)
	k.Close()
	if err := <-ended; err != nil {
		t.Errorf("Run gave %v", err)
	}
	synctest.Wait()
	return s.output.String()
}

func TestPromptWithoutColour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			k.Type("note milk\r")
			s.finishTurn()
			k.Type("y\r")
			s.finishTurn()
		})
		if strings.Contains(got, "\x1b[3") || strings.Contains(got, "\x1b[2m") ||
			!strings.Contains(got, "approval> approved by Ann: Add milk\r\n") {
			t.Errorf("got %q", got)
		}
	})
}

func TestPromptAnswersTheCardThatWasLastWhenTypingBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			k.Type("note milk\r")
			synctest.Wait()
			k.Type("y") // begun before the card is there
			s.finishTurn()
			k.Type("\r")
			s.finishTurn()
			k.Type("y") // for milk; the card of tea appears before Enter
			synctest.Wait()
			s.draw(core.Card{Approval: "a-tea", State: core.Open, Tool: "note.add", Summary: "Add tea"})
			k.Type("\r")
			s.finishTurn()
			k.Type("y") // for tea, which is decided elsewhere meanwhile
			synctest.Wait()
			s.draw(
				core.Card{
					Approval: "a-tea", State: core.Approved, Tool: "note.add", Summary: "Add tea", DecidedBy: "Bob",
				})
			k.Type("\r")
			synctest.Wait()
			if !strings.Contains(s.output.String(), "gatehouse> This was approved by Bob at ") {
				t.Error("an answer that came too late got no reply")
			}
			got := ""
			for _, e := range s.taken() {
				got += string(e.Kind()) + " " + e.Subject() + string(e.Payload) + "\n"
			}
			want := `message {"text":"note milk"}` + "\n" + `message {"text":"y"}` + "\n" +
				`click a-milk{"approval":"a-milk","choice":"approve"}` + "\n"
			if got != want {
				t.Errorf("got the events\n%swant\n%s", got, want)
			}
		})
	})
}

func TestPromptPastedTextIsAlwaysAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			s.draw(core.Card{Approval: "a-tea", State: core.Open, Tool: "note.add", Summary: "Add tea"})
			k.Type("\x1b[200~y\r/stop\r\x1b[201~\r")
			s.finishTurn()
			if e := s.taken(); len(e) != 1 || e[0].Kind() != core.KindMessage ||
				string(e[0].Payload) != `{"text":"y\n/stop"}` {
				t.Errorf("got the events %+v", e)
			}
			k.Type("\x1b[200~" + strings.Repeat(strings.Repeat("x", 4000)+"\r", 300) + "\x1b[201~\rhello\r")
			s.finishTurn()
			if e := s.taken(); len(e) != 2 || string(e[1].Payload) != `{"text":"hello"}` {
				t.Errorf("after too much was pasted, %d events", len(e))
			}
		})
	})
}

func TestPromptSpinnerEnds(t *testing.T) {
	frame := "⠹"
	for name, tc := range map[string]struct {
		end  func(s *gateway)
		wait time.Duration
	}{
		"ended by a reply": {func(s *gateway) { s.post(core.Post{Kind: core.PostReply, Text: "done"}) }, 0},
		"ended by a card":  {func(s *gateway) { s.draw(core.Card{Approval: "a1", State: core.Open}) }, 0},
		"ended by its end": {func(s *gateway) {
			_, _, _ = s.Post(t.Context(), core.Delivery{Post: core.Post{Kind: core.PostWorking}})
		}, 0},
		"ended by a post of it": {func(s *gateway) { s.post(core.Post{Kind: core.PostWorking}) }, 0},
		"not ended, and the conversation is idle": {func(s *gateway) {
			s.mu.Lock()
			s.waiting = 0
			s.mu.Unlock()
		}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
					s.mu.Lock()
					s.waiting = 1
					s.mu.Unlock()
					s.post(core.Post{Kind: core.PostWorking, On: true})
					time.Sleep(20 * time.Second)
					if n := strings.Count(s.output.String(), frame); n < 10 {
						t.Errorf("the spinner was drawn %d times", n)
					}
					tc.end(s)
					time.Sleep(tc.wait)
					synctest.Wait()
					before := plain(s.output.String())
					if !strings.HasSuffix(before, "> ") ||
						strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(before, "you> "), "you (y/n)> "),
							frame+" ") {
						t.Errorf("the prompt is now %q", before[max(0, len(before)-20):])
					}
					time.Sleep(20 * time.Second)
					if after := plain(s.output.String()); after != before {
						t.Errorf("it is still drawn: %q", strings.TrimPrefix(after, before))
					}
				})
			})
		})
	}
}

func TestPromptContinuesAfterAStoreFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			var works atomic.Bool
			s.refuse = func(core.Event) error {
				if !works.Load() {
					return core.Errorf(core.StoreBusy, "The store is busy.")
				}
				return nil
			}
			k.Type("hello\r")
			time.Sleep(time.Minute)
			works.Store(true)
			k.Type("hello again\r")
			s.finishTurn()
		})
		if !strings.Contains(got, "send it again later") || !strings.Contains(got, "you said hello again") {
			t.Errorf("got %q", got)
		}
	})
}

// plain is what a terminal shows of a text: without escape sequences.
func plain(text string) string { return escapes.ReplaceAllString(text, "") }

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[a-zA-Z]")
