package main

import (
	"slices"
	"strconv"
	"testing"
)

// TestErasingSurvivesKills: beside a process that serves, people erase is killed at ever later transactions; each time
// the next one goes on. In the end nothing that the person said is left, and the audit log can be verified.
func TestErasingSurvivesKills(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		w := e.workbench(t, "GATEHOUSE_LISTEN=127.0.0.1:0", "GATEHOUSE_AGENT=echo")
		s := newSeeder(t.Context(), w.store)
		for _, id := range []string{"a", "b"} {
			s.said(t, "zoe/"+id, "console:zoe", "Zoe Quimby", "the code is "+plum+id, "you said "+plum+id)
			s.said(t, "bob/"+id, "console:bob", "Bob", "Zoe told me "+plum+id+" yesterday", "noted: "+plum+id)
		}
		noErr(t, w.store.AddNote(t.Context(), "console:zoe", "remember "+plum))
		serving := w.start(nil, "serve")
		erase := []string{"people", "erase", "console:zoe", "--replies", "--yes"}
		killed := 0
		for nth := 1; ; nth += 5 {
			c := w.start([]string{killKey + "=ErasePerson.after", nthKey + "=" + strconv.Itoa(nth)}, erase...)
			w.until("its end", c, c.gone)
			if c.cmd.ProcessState.ExitCode() == 0 {
				break
			}
			if killed++; c.cmd.ProcessState.Exited() {
				t.Fatalf("it failed:\n%s", c.out)
			}
		}
		if killed < 5 {
			t.Errorf("it was killed %d times", killed)
		}
		text := everything(t, w.url)
		if got := finds(text, plum, "Zoe Quimby"); len(got) > 0 {
			t.Errorf("%q are still in the database", got)
		}
		if !slices.Equal(finds(text, "yesterday"), []string{"yesterday"}) {
			t.Error("what others said was erased")
		}
		if r := verified(t, w.store, w.store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
		if serving.gone() {
			t.Errorf("gatehouse serve ended:\n%s", serving.out)
		}
	})
}
