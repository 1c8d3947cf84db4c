package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// reloadablePolicy writes a policy of one rule, which another call of the function that it returns replaces.
func reloadablePolicy(t *testing.T) (path string, write func(action string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "policy.yaml")
	return path, func(action string) {
		t.Helper()
		if err := os.WriteFile(path, fmt.Appendf(nil, "version: 1\nrules:\n  - name: all\n    action: %s\n", action), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServeReadsThePolicyAgain: on SIGHUP; an invalid file keeps the old policy and names each fault.
func TestServeReadsThePolicyAgain(t *testing.T) {
	t.Parallel()
	path, write := reloadablePolicy(t)
	write("allow")
	l := newSlackProcess(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_APPROVAL_POLICY="+path)
	l.open()
	write("alow\n    quorum: 0")
	l.signal(syscall.SIGHUP)
	l.says("the old policy stays in force")
	out := l.app.out.String()
	for _, want := range []string{path + `:4: unknown action \"alow\"; did you mean allow?`, path + `:5: quorum is \"0\"; write a whole number from 1`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	if strings.Count(out, `"level":"ERROR"`) != 3 || strings.Contains(out, "was read again") {
		t.Errorf("the log is %s", out)
	}
	write("deny")
	l.signal(syscall.SIGHUP)
	l.says("the policy was read again")
	l.signal(syscall.SIGTERM)
	<-l.app.done
}

// TestChatReadsThePolicyAgain: the next call is decided by the policy that was read on SIGHUP, and an invalid file changes nothing.
func TestChatReadsThePolicyAgain(t *testing.T) {
	t.Parallel()
	path, write := reloadablePolicy(t)
	write("deny\n    why: Not today.")
	w := newWorkbench(t, "GATEHOUSE_APPROVAL_POLICY="+path)
	c := w.start(nil, "chat")
	said := func(text string) int { return strings.Count(c.out.String(), text) }
	// add adds notes, one after another, until the answer is the wanted one.
	add := func(want string) {
		t.Helper()
		before, asked := said(want), -1
		w.until(want, c, func() bool {
			if answers := said("Not today.") + said("Done: "); asked < 0 || answers > asked {
				asked = answers
				if said(want) == before {
					c.typeLine("note add milk")
				}
			}
			return said(want) > before
		})
	}
	add("Not today.")
	write("allow\n    unknown: key")
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	w.until("the fault", c, func() bool { return said("the old policy stays in force") == 1 })
	add("Not today.")
	if said("Done: ") > 0 {
		t.Errorf("it prints %s", c.out)
	}
	write("allow")
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	add("Done: ")
	w.until("the end", c, w.settled)
	c.ok(t)
}
