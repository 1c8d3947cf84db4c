package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// openTerminal starts gatehouse chat at a real terminal. What it prints is in the transcript of the child.
func (w *workbench) openTerminal(args ...string) (c *child, keyboard, tty *os.File) {
	w.t.Helper()
	return w.atTerminal(append([]string{"chat"}, args...)...)
}

// atTerminal starts gatehouse at a real terminal.
func (w *workbench) atTerminal(args ...string) (c *child, keyboard, tty *os.File) {
	w.t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		w.t.Skipf("no pseudo terminals here: %v", err)
	}
	noErr(w.t, pty.Setsize(ptm, &pty.Winsize{Rows: 40, Cols: 100}))
	w.t.Cleanup(func() { ptm.Close(); tty.Close() })
	w.env = append(w.env, "TERM=xterm")
	w.tty, w.attr = tty, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c = w.start(nil, args...)
	go func() { _, _ = io.Copy(c.out, ptm) }()
	return c, ptm, tty
}

func (w *workbench) types(keyboard *os.File, keys string) {
	w.t.Helper()
	if _, err := keyboard.WriteString(keys); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workbench) sees(c *child, text string) {
	w.t.Helper()
	// it is copied after the process has ended, too
	w.until(text, c, func() bool { return strings.Contains(c.out.String(), text) })
}

// TestCtrlCInTheChat: the first Ctrl-C stops the running turn, the second leaves, and nothing that was typed is left
// for the shell. The terminal is as it was before.
func TestCtrlCInTheChat(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h", "NO_COLOR=1")
	c, keyboard, tty := w.openTerminal()
	w.sees(c, "you> ")
	w.types(keyboard, "hello\r")
	w.sees(c, "⠹ Working… 0 s") // the turn runs
	w.types(keyboard, "\x03")
	w.sees(c, "Stopping the running turn. Ctrl-C again leaves the chat.")
	w.sees(c, "gatehouse> Stopped.")
	w.types(keyboard, "rm -rf x\x03\x03echo to the shell\r")
	<-c.done
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %d and prints %s", code, c.out)
	}
	w.types(keyboard, "for the shell\n") // the terminal takes lines again
	line, err := bufio.NewReader(tty).ReadString('\n')
	if err != nil || line != "for the shell\n" {
		t.Errorf("the shell reads %q, %v", line, err)
	}
}

// TestLeavingEndsAtOnce: who leaves while a turn runs reads how long that may take, and leaves at once with another
// Ctrl-C.
func TestLeavingEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h", "GATEHOUSE_DRAIN_TIMEOUT=17m")
	c, keyboard, _ := w.openTerminal()
	w.sees(c, "you> ")
	w.types(keyboard, "hello\r")
	w.sees(c, "⠹")
	w.types(keyboard, "exit\r")
	w.sees(c, "Leaving as soon as the running turn has ended, after 17m0s at most. Ctrl-C leaves at once.")
	w.types(keyboard, "\x03")
	w.until("the end of the process", c, c.gone)
	if s := c.cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGINT {
		t.Errorf("it ends with %v", c.cmd.ProcessState)
	}
}

// TestNoLogInTheChat: log lines do not land in the chat at a terminal, and a file gets them.
func TestNoLogInTheChat(t *testing.T) {
	for _, redirected := range []bool{false, true} {
		t.Run(fmt.Sprintf("redirected %t", redirected), func(t *testing.T) {
			t.Parallel()
			fail := t.TempDir() + "/fail"
			w := newWorkbench(t, failKey+"="+fail, "GATEHOUSE_LOG_FORMAT=text")
			log := t.TempDir() + "/chat.log"
			if redirected {
				f, err := os.Create(log)
				noErr(t, err)
				defer f.Close()
				w.log = f
			}
			c, keyboard, _ := w.openTerminal()
			w.sees(c, "you> ")
			noErr(t, os.WriteFile(fail, nil, 0o600))
			w.types(keyboard, "hello\r")
			w.sees(c, "could not be stored. Please send it again later.")
			if err := os.Remove(fail); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			w.types(keyboard, "\x04")
			<-c.done
			if strings.Contains(c.out.String(), "level=") {
				t.Errorf("the chat shows the log: %s", c.out)
			}
			text, _ := os.ReadFile(log)
			if redirected != strings.Contains(string(text), "level=WARN") {
				t.Errorf("the log is %q", text)
			}
		})
	}
}

// TestAQuestionAtATerminal is asked again after a restart, and answered field by field.
func TestAQuestionAtATerminal(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "NO_COLOR=1")
	c, keyboard, _ := w.openTerminal()
	w.sees(c, "you> ")
	w.types(keyboard, "call people.ask "+orderQuestion+"\r")
	w.sees(c, "you (Size: 1-2)> ")
	w.types(keyboard, "2\r")
	w.sees(c, "you (count: number)> ")
	c.kill()
	c, keyboard, _ = w.openTerminal()
	w.sees(c, "question> What shall I order?")
	for _, step := range [][2]string{
		{"you (Size: 1-2)> ", "m"}, {"you (count: number)> ", "12"}, {"This must be 9 or less", "3"},
		{"you (gift: y/n)> ", "-"}, {"you (note: text)> ", "-"}, {"you (Story: text)> ", "y"},
	} {
		w.sees(c, strings.TrimPrefix(step[0], "T"))
		w.types(keyboard, step[1]+"\r")
	}
	w.sees(c, `answered: {"size":"m","count":3,"story":"y"}`)
	w.types(keyboard, "\x04")
	<-c.done
}
