package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatehouse/adapters/slack/slacktest"
)

// reloadablePolicy writes a policy of one rule, which another call of the function that it returns replaces.
func reloadablePolicy(t *testing.T) (path string, write func(action string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "policy.yaml")
	return path, func(action string) {
		t.Helper()
		if err := os.WriteFile(path, fmt.Appendf(nil, "version: 1\nrules:\n  - name: all\n    action: %s\n", action),
			0o600); err != nil {
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
	l.says("so nothing was changed")
	out := l.app.out.String()
	for _, want := range []string{
		path + `:4:13: unknown action \"alow\"; did you mean allow?`,
		path + `:5:13: quorum is \"0\"; write a whole number from 1`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	if strings.Count(out, `"level":"ERROR"`) != 1 || strings.Contains(out, "was read again: ") {
		t.Errorf("the log is %s", out)
	}
	write("deny")
	l.signal(syscall.SIGHUP)
	l.says("the configuration was read again: policy (" + path + ")")
	l.signal(syscall.SIGTERM)
	<-l.app.done
}

// TestChatReadsThePolicyAgain: the next call is decided by the policy that was read on SIGHUP, and an invalid file
// changes nothing.
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
	noErr(t, c.cmd.Process.Signal(syscall.SIGHUP))
	w.until("the fault", c, func() bool { return said("so nothing was changed") == 1 })
	add("Not today.")
	if said("Done: ") > 0 {
		t.Errorf("it prints %s", c.out)
	}
	write("allow")
	noErr(t, c.cmd.Process.Signal(syscall.SIGHUP))
	add("Done: ")
	w.until("the end", c, w.settled)
	c.ok(t)
}

// TestLaw5_AToolOfTheFileThatChangesIsAskedForAgain: SIGHUP reads the file of tools again. A call that waits while its
// tool changes is asked for again, and what runs is the tool of now. A file with a fault changes nothing.
func TestLaw5_AToolOfTheFileThatChangesIsAskedForAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tools.yaml")
	write := func(risk, says string) {
		t.Helper()
		text := "version: 1\ntools:\n  - {name: shop.store, description: Stores a thing., risk: " + risk +
			", command: [echo, " + says + "]}\n"
		noErr(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("write", "stored as before")
	p := newSlackProcess(t, "GATEHOUSE_TOOLS="+path, "GATEHOUSE_APPROVERS=slack:U2BOB")
	p.open()
	hangUp := func(risk, says, logged string) {
		t.Helper()
		write(risk, says)
		p.signal(syscall.SIGHUP)
		p.says(logged)
	}
	ask := func() (thread string, card slacktest.Message) {
		thread = p.ann.Posts("C1", p.slack.MentionOfBot()+" call shop.store {}").TS
		return thread, p.card("C1", thread, "Asked by")
	}

	thread, card := ask()
	hangUp("big", "stored", "so nothing was changed")
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", thread, "stored as before")

	thread, card = ask()
	hangUp("write", "stored as of now", "the configuration was read again: tools ("+path+")")
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", thread, "so I need an approval again")
	again := card
	p.until("the new card", p.app, func() bool { again = p.card("C1", thread, "Asked by"); return again.TS != card.TS })
	p.bob.Clicks("C1", again.TS, "approve")
	p.reads("C1", thread, "stored as of now")
}
