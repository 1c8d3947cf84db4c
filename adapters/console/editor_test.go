package console_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// shows reads until the terminal shows this.
func (s *screen) shows(v *vt, want string) {
	s.t.Helper()
	end := time.After(10 * time.Second)
	for v.String() != want {
		select {
		case p, ok := <-s.text:
			if !ok {
				s.t.Fatalf("the terminal was closed; it shows\n%s", v)
			}
			v.print(string(p))
		case <-end:
			s.t.Fatalf("the terminal shows\n%s\nwant\n%s", v, want)
		}
	}
}

// settles reads until nothing more is on its way to the terminal: the editor and the reader of the terminal wait for
// input. Otherwise bytes that the editor has written for the old size would be shown in the new one.
func (s *screen) settles(v *vt) {
	s.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(10 * time.Second)
	for quiet := 0; quiet < 5; {
		select {
		case <-end:
			s.t.Fatal("the editor never waits for input")
		case p := <-s.text:
			v.print(string(p))
			quiet = 0
		case <-tick.C:
			if quiet++; !editorWaits() {
				quiet = 0
			}
		}
	}
}

// editorWaits reports whether each goroutine of the editor, and the one that reads the terminal, waits for something.
func editorWaits() bool {
	buf := make([]byte, 1<<20)
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if !strings.Contains(g, "readline") && !strings.Contains(g, "console.(*") && !strings.Contains(g, "newScreen") {
			continue
		}
		head, _, _ := strings.Cut(g, "\n")
		works := strings.Contains(head, "[runnable") || strings.Contains(head, "[running") ||
			strings.Contains(head, "[syscall") && !strings.Contains(g, "os.(*File).Read")
		if works || strings.Contains(g, "os.(*File).Write") {
			return false
		}
	}
	return true
}

// The line stays right while wide characters and emoji are typed, deleted and inserted, while the bot prints, and when
// the terminal's size changes.
func TestPromptKeepsTheLineRight(t *testing.T) {
	sc := newScreen(t)
	if err := pty.Setsize(sc.ptm, &pty.Winsize{Rows: 24, Cols: 20}); err != nil {
		t.Fatal(err)
	}
	c := newGateway(t, console.Options{In: sc.tty, Out: sc.tty, TTY: true, NoColor: true})
	ended := make(chan error, 1)
	go func() { ended <- c.Run(t.Context(), c.accept) }()
	v := newVT(20)
	sc.shows(v, "you> _")
	sc.keys("日本語😀")
	sc.shows(v, "you> 日本語😀_")
	sc.keys("\x1b[D\x1b[D\x7f")
	sc.shows(v, "you> 日_語😀")
	sc.keys("x漢字漢字漢字")
	sc.shows(v, "you> 日x漢字漢字漢字\n_語😀")
	c.post(core.Post{Kind: core.PostReply, Text: "終わり"})
	sc.shows(v, "bot> 終わり\nyou> 日x漢字漢字漢字\n_語😀")
	sc.keys("\x05e\u0301\x7f\x7f!")
	sc.shows(v, "bot> 終わり\nyou> 日x漢字漢字漢字\n語😀!_")
	for _, size := range []struct {
		cols int
		want string
	}{{12, "bot> 終わり\nyou> 日x漢字\n漢字漢字語😀\n!_"}, {60, "bot> 終わり\nyou> 日x漢字漢字漢字語😀!_"}} {
		sc.settles(v)
		if err := pty.Setsize(sc.ptm, &pty.Winsize{Rows: 24, Cols: uint16(size.cols)}); err != nil {
			t.Fatal(err)
		}
		v.resize(size.cols)
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		v.print(string(<-sc.text)) // the line is drawn again; without that it may look right already
		sc.shows(v, size.want)
		sc.settles(v)
		sc.keys("?")
		sc.shows(v, strings.TrimSuffix(size.want, "_")+"?_")
		sc.keys("\x7f")
		sc.shows(v, size.want)
	}
	sc.keys("\x15\x04")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A line that the end of the input cuts off is not sent: who closes the window has not pressed Enter.
func TestPromptDiscardsALineThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *gateway
		withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			g = s
			s.draw(core.Card{Approval: "a-tea", State: core.Open, Tool: "note.add", Summary: "Add tea"})
			k.Type("y")
		})
		if e := g.taken(); len(e) != 0 {
			t.Errorf("got the events %+v", e)
		}
	})
}

// The first Ctrl-C stops the running turn, the second leaves. Without a running turn it discards what was typed.
func TestCtrlC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := withPrompt(t, console.Options{}, func(s *gateway, k *keyboard) {
			k.Type("half a line\x03")
			synctest.Wait()
			k.Type("think\r")
			synctest.Wait()
			k.Type("half\x03")
			synctest.Wait()
			if e := s.taken(); len(e) != 2 || string(e[0].Payload) != `{"text":"think"}` || e[1].Subject() != "stop" {
				t.Errorf("got the events %+v", e)
			}
			k.Type("\x03")
			synctest.Wait()
			k.Type("not sent\r")
			synctest.Wait()
			if e := s.taken(); len(e) != 2 {
				t.Errorf("after the second Ctrl-C there are the events %+v", e)
			}
			s.finishTurn()
		})
		if !strings.Contains(got, "Stopping the running turn. Ctrl-C again leaves the chat.") {
			t.Errorf("got %q", got)
		}
	})
}
