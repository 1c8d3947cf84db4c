package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
	"gatehouse/storage/storagetest/failpoints"
)

// landedFile unpacks a database of an earlier schema.
func landedFile(schema, file string) error {
	packed, err := os.Open("../../storage/sqlite/testdata/" + schema + ".db.gz")
	if err != nil {
		return err
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// restored restores a backup in an empty folder, which the workbench uses from now on.
func (w *workbench) restored(file string) {
	w.t.Helper()
	w.url = "sqlite:" + filepath.Join(w.t.TempDir(), "gatehouse.db")
	w.start(nil, "restore", file).ok(w.t)
	store, err := storage.Open(w.t.Context(), w.url, storage.Options{NewID: cli.NewID})
	noErr(w.t, err)
	w.t.Cleanup(func() { _ = store.Close() })
	w.store = store
}

// TestLaw5_NothingRunsTwiceAfterARestore: a backup is made under load. Then open approvals are decided and their calls
// run, and the backup is put back in an empty folder. All that was acknowledged before is there; what was open is
// cancelled and can be asked again; nothing runs by itself.
func TestLaw5_NothingRunsTwiceAfterARestore(t *testing.T) {
	t.Parallel()
	p := newSlackProcess(t)
	p.open()
	ask := func(what string) (thread, card string) {
		posted := p.ann.Posts("C1", p.slack.MentionOfBot()+" note add "+what)
		return posted.TS, p.card("C1", posted.TS, "Add “"+what+"” to the note book.").TS
	}
	milkThread, milk := ask("milk")
	eggsThread, eggs := ask("eggs")
	var load sync.WaitGroup
	stop := make(chan struct{})
	begun := make(chan struct{})
	var before []string // said before the backup, and acknowledged
	load.Go(func() {
		for n := 0; ; n++ {
			word := fmt.Sprintf("word-%d.", n)
			posted := p.ann.Posts("C1", p.slack.MentionOfBot()+" "+word)
			if n < 20 && acked(posted.Deliveries) {
				before = append(before, word)
			}
			if n == 20 {
				close(begun)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	<-begun
	file := filepath.Join(t.TempDir(), "backup.db")
	p.workbench.start(nil, "backup", file).ok(t)
	close(stop)
	load.Wait()
	p.bob.Clicks("C1", eggs, "approve")
	p.reads("C1", eggsThread, "Done: “eggs”")
	p.app.kill()

	p.restored(file)
	p.open()
	p.until("the end", p.app, p.settled)
	stored := map[string]bool{}
	for _, e := range p.events(core.EventFilter{}) {
		for _, word := range before {
			stored[word] = stored[word] || strings.Contains(string(e.Payload), word)
		}
	}
	for _, word := range before {
		if !stored[word] {
			t.Errorf("%q was acknowledged before the backup and is not in it", word)
		}
	}
	for _, a := range p.approvals() {
		if !a.Restored() {
			t.Errorf("the approval %s is %s", a.ID, a.State)
		}
	}
	p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + eggsThread)
	if notes := p.notes(); len(notes) > 0 {
		t.Errorf("notes %q ran again", notes)
	}
	// what is asked again is asked for once more, and runs then
	p.ann.Clicks("C1", milk, "ask_again")
	var again []core.Approval
	p.until("the new card", p.app, func() bool {
		again = p.approvals(core.Open)
		return len(again) == 1 && p.settled()
	})
	p.workbench.start(nil, "approvals", "approve", string(again[0].ID)).ok(t)
	p.until("the note", p.app, p.settled)
	p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + milkThread)
	if notes := p.notes(); len(notes) != 1 {
		t.Errorf("notes %q", notes)
	}
	if r := verified(t, p.store, p.store.Signer(), ""); len(r.Faults) > 0 {
		t.Errorf("the audit log: %q", r.Faults)
	}
	p.app.kill()
}

// TestLaw5_AnAllowedCallPausedAtABackupDoesNotRunTwice: the backup is made between the pause of an allowed call and its
// resume. The call runs; in the restored database it does not run again, wherever a process is killed that settles it.
func TestLaw5_AnAllowedCallPausedAtABackupDoesNotRunTwice(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_APPROVAL_POLICY="+
		policyFile(t, "version: 1\nrules:\n- name: notes\n  tools: [\"note.add\"]\n  action: allow\n"))
	c := w.start([]string{killKey + "=Finish.after", nthKey + "=1"}, "chat")
	c.typeLine("note add milk")
	w.until("the pause", c, c.gone)
	file := filepath.Join(t.TempDir(), "backup.db")
	w.start(nil, "backup", file).ok(t)
	c = w.start(nil, "chat")
	w.until("the note", c, w.settled)
	c.ok(t)
	if notes := w.notes(); len(notes) != 1 {
		t.Fatalf("before the restore: notes %q", notes)
	}
	points := []string{""}
	for _, p := range failpoints.All() {
		if strings.HasPrefix(p, "Settle.") || strings.HasPrefix(p, "EndRestore.") {
			points = append(points, p)
		}
	}
	for _, point := range points {
		for nth := 1; nth <= 5; nth += 2 {
			if nth > 1 && !strings.HasPrefix(point, "Settle.") {
				continue
			}
			w.restored(file)
			if point != "" {
				killed := w.start([]string{killKey + "=" + point, fmt.Sprintf("%s=%d", nthKey, nth)}, "chat")
				w.until("the kill at "+point, killed, killed.gone)
			}
			c = w.start(nil, "chat")
			w.until("the end", c, func() bool {
				m, err := w.store.RestoreMark(t.Context())
				return err == nil && m == nil && w.settled()
			})
			c.ok(t)
			if notes := w.notes(); len(notes) > 0 {
				t.Errorf("killed at %s: notes %q", point, notes)
			}
			dead := w.events(core.EventFilter{Ends: []core.EndKind{core.EndDead}})
			if a := w.approvals(); len(a) != 1 || !a[0].Restored() || len(dead) != 1 ||
				dead[0].End.Cause != core.BeforeRestore {
				t.Errorf("killed at %s: approvals %+v, dead letters %+v", point, a, dead)
			}
		}
	}
	// somebody knows that it is to be done once more
	dead := w.events(core.EventFilter{Ends: []core.EndKind{core.EndDead}})
	w.start(nil, "deadletters", "retry", fmt.Sprint(dead[0].Seq)).ok(t)
	c = w.start(nil, "chat")
	w.until("the note", c, func() bool { return len(w.notes()) == 1 && w.settled() })
	c.ok(t)
}

// TestARestoreIsNotMarkedWhileAProcessServes: what it goes on to do would be taken for what a backup does not know.
func TestARestoreIsNotMarkedWhileAProcessServes(t *testing.T) { onEachEngine(t, markedWhileServed) }

func markedWhileServed(t *testing.T, e engine) {
	l := newServeProcess(t, e)
	l.open()
	c := l.start(nil, "restore", "--mark")
	c.quit(t)
	if code := c.cmd.ProcessState.ExitCode(); code != cli.ExitBad ||
		!strings.Contains(c.out.String(), "serves the database") {
		t.Errorf("exit code %d:\n%s", code, c.out)
	}
	l.app.kill()
	l.start(nil, "restore", "--mark").ok(t)
	l.open()
	l.until("the settling", l.app, func() bool {
		r, err := l.store.LastRestore(t.Context())
		return err == nil && r != nil
	})
}
