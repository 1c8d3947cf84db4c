package main

import (
	"strings"
	"syscall"
	"testing"

	"gatehouse/core"
)

// serving starts gatehouse serve with an agent that thinks longer than any test runs.
func serving(t *testing.T) *slackProcess {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h", "GATEHOUSE_DRAIN_TIMEOUT=17m")
	p.open()
	return p
}

func (l *serveProcess) signal(s syscall.Signal) {
	l.t.Helper()
	noErr(l.t, l.app.cmd.Process.Signal(s))
}

func (l *serveProcess) says(text string) {
	l.t.Helper()
	l.until(text, l.app, func() bool { return strings.Contains(l.app.out.String(), text) })
}

// TestServeSaysThatItDrains: serve survives a hang-up, and says on a signal to stop that it drains and how long.
func TestServeSaysThatItDrains(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		l := serving(t)
		l.signal(syscall.SIGHUP)
		l.says("nothing that can change without a restart has changed")
		l.signal(s)
		<-l.app.done
		if code, out := l.app.cmd.ProcessState.ExitCode(), l.app.out.String(); code != 0 ||
			!strings.Contains(out, "draining: running turns may go on for up to 17m0s") ||
			!strings.Contains(out, "a second signal ends gatehouse at once") ||
			!strings.Contains(out, `"msg":"drained"`) {
			t.Errorf("on %v it ends with %d and prints %s", s, code, out)
		}
	}
}

// TestASecondSignalEndsServeAtOnce: a process whose first signal found something that takes long ends with the second.
func TestASecondSignalEndsServeAtOnce(t *testing.T) {
	t.Parallel()
	l := serving(t)
	l.ann.Posts(l.addChannels(1)[0], l.slack.MentionOfBot()+" hello")
	l.until("the turn", l.app, func() bool {
		turns := l.events(core.EventFilter{Waiting: true})
		return len(turns) == 1 && turns[0].Attempt == 1
	})
	l.signal(syscall.SIGTERM)
	l.says("draining: ")
	l.signal(syscall.SIGTERM)
	<-l.app.done
	state := l.app.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !state.Signaled() || state.Signal() != syscall.SIGTERM {
		t.Errorf("it ends with %v and prints %s", l.app.cmd.ProcessState, l.app.out)
	}
}
