package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// plum is a marked text of the person that is erased.
const plum = "plum-7713-secret"

// said stores a message of a person, whose turn ends with a reply, a file, evidence and a note.
func (s *seeder) said(t *testing.T, id, who, name, text, reply string) core.Claim {
	t.Helper()
	e := s.event(id, text)
	e.Actor = core.Actor{ID: who, Name: name}
	if s.conversation != "" {
		e.Conversation = s.conversation
	}
	_, err := s.store.Accept(s.ctx, e)
	noErr(t, err)
	claims, err := s.store.Claim(s.ctx, core.ClaimRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	c := claims[0]
	w := core.Writer{Invocation: c.Event.Invocation}
	rec, err := s.store.LoadSession(s.ctx, c.Session, w)
	noErr(t, err)
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, SchemaVersion: "1", Messages: &core.History{}}
	}
	content := core.Said(core.Speaker{Name: name, ID: who}, text, nil)
	h := rec.Messages.Append(core.Message{Role: core.User, Content: content},
		core.Message{Role: core.Assistant, Content: core.Text(reply)})
	rec.Messages, rec.Writer = &h, w
	noErr(t, s.store.Finish(s.ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndReplied},
		Changes: core.Changes{Session: rec, Posts: []core.Post{{
			Key: "reply/" + id, To: e.Address, Conversation: e.Conversation, Kind: core.PostReply, Text: reply,
			Event: c.Event.Seq,
		}}},
	}))
	rows, err := s.store.ClaimPosts(s.ctx, core.PostRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d posts, %v", len(rows), err)
	}
	rows[0].State, rows[0].Shown, rows[0].Parts = core.RowSent, rows[0].Wanted, []core.Part{{Ref: "r"}}
	_, err = s.store.ReleasePost(s.ctx, rows[0], 0)
	noErr(t, err)
	return c
}

// erases runs gatehouse people erase, without a terminal.
func erases(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var text strings.Builder
	code = run(t.Context(), append([]string{"people", "erase"}, args...), cli.Stdio{
		In: strings.NewReader(""), Out: &text, Err: &text,
	}, platforms)
	return code, text.String()
}

// TestErasedPersonIsNowhere: after a person was erased, a text of theirs is in no table, nor in the file; what others
// said is, and the audit log can be verified.
func TestErasedPersonIsNowhere(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		ctx, url := t.Context(), e.make(t)
		store, err := storage.Open(ctx, url, storage.Options{})
		noErr(t, err)
		defer store.Close()
		s := newSeeder(ctx, store)
		s.said(t, "e1", "console:zoe", "Zoe Quimby", "the code is "+plum, "you said "+plum)
		s.said(t, "e2", "console:bob", "Bob", "Zoe told me "+plum+" yesterday", "noted: "+plum)
		box := core.ConversationID("openharness:oh/zoe/web")
		content, _ := json.Marshal(map[string]string{"kind": "said", "text": plum + " is mine"})
		_, err = store.PutMail(ctx, core.Mail{
			Mailbox: box, Key: "m1", Content: content, Opens: &core.Opening{Person: "console:zoe", Title: plum},
		})
		noErr(t, err)
		noErr(t, store.AddNote(ctx, "console:zoe", "remember "+plum))
		_, err = store.AddTokens(ctx, "console:zoe", 17)
		noErr(t, err)

		if x, err := store.ExportPerson(ctx, "console:zoe"); err != nil || len(x.Events) != 1 || len(x.Messages) != 2 ||
			len(x.Memory) != 1 || len(x.Usage) != 1 || len(x.Names) != 1 || len(x.Mail) != 1 {
			t.Errorf("the export: %+v, %v", x, err)
		}
		if _, err := store.ExportPerson(ctx, "console:nobody"); core.CategoryOf(err) != core.NotFound {
			t.Errorf("a person who is unknown: %v", err)
		}
		if got := finds(everything(t, url), plum, "Zoe Quimby"); len(got) != 2 {
			t.Fatalf("before, only %q are found", got)
		}
		if _, err := store.ErasePerson(ctx, "console:zoe", storage.Erasing{Replies: false}); err != nil {
			t.Fatal(err)
		}
		if text := everything(t, url); !strings.Contains(text, "you said "+plum) || len(finds(text, "Zoe Quimby",
			"the code is", plum+" is mine", "remember "+plum)) > 0 {
			t.Error("a reply is gone, or what the person said is not")
		}
		for range 2 {
			if _, err := store.ErasePerson(ctx, "console:zoe", storage.Erasing{Replies: true}); err != nil {
				t.Fatal(err)
			}
			if got := finds(everything(t, url), plum, "Zoe Quimby"); len(got) > 0 {
				t.Errorf("%q are still in the database", got)
			}
		}
		if len(finds(everything(t, url), "yesterday")) == 0 {
			t.Error("what others said was erased")
		}
		if r := verified(t, store, store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
		if r, err := store.Accept(ctx, s.event("e1", "again")); err != nil || r.Fresh {
			t.Errorf("the message, delivered again: %+v, %v", r, err)
		}
	})
}

// TestErasedPersonsApprovals: what they asked for and decided has no texts and no names any more, and the audit log
// says that this was an erasure.
func TestErasedPersonsApprovals(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url, store := audited(t, e)
		a, err := store.LoadApproval(t.Context(), "ap-1")
		noErr(t, err)
		for _, id := range []string{a.Requester.ID, a.DecidedBy.ID} {
			_, err := store.ErasePerson(t.Context(), id, storage.Erasing{Replies: true})
			if err != nil && core.CategoryOf(err) != core.NotFound {
				t.Fatal(err)
			}
		}
		if got := finds(everything(t, url), "it is due", "milk", "hunter2"); len(got) > 0 {
			t.Errorf("%q are still in the database", got)
		}
		if r := verified(t, store, store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
		if _, err := store.RecordedApproval(t.Context(), "ap-1"); err != nil {
			t.Errorf("the approval: %v", err)
		}
	})
}

// TestEraseCommand: it needs --yes without a terminal, knows who is unknown, and removes snapshots when asked.
func TestEraseCommand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "gatehouse.db")
	store, err := storage.Open(t.Context(), "sqlite:"+file, storage.Options{})
	noErr(t, err)
	newSeeder(t.Context(), store).said(t, "e1", "console:zoe", "Zoe", "the code is "+plum, "ok")
	noErr(t, store.Close())
	snapshot := file + ".v11-20261128T090000.snapshot"
	noErr(t, os.WriteFile(snapshot, []byte(plum), 0o600))
	t.Setenv("GATEHOUSE_DATABASE_URL", "sqlite:"+file)
	if code, out := erases(t, "console:zoe"); code != 2 || !strings.Contains(out, "--yes") {
		t.Errorf("without --yes: %d, %s", code, out)
	}
	if code, out := erases(t, "console:nobody", "--yes"); code != 3 || !strings.Contains(out, "Nothing is kept") {
		t.Errorf("an unknown person: %d, %s", code, out)
	}
	if code, out := erases(t, "console:zoe", "--yes"); code != 0 || !strings.Contains(out, snapshot) {
		t.Errorf("erasing: %d, %s", code, out)
	}
	if code, out := erases(t, "console:zoe", "--yes", "--snapshots"); code != 0 {
		t.Errorf("erasing again: %d, %s", code, out)
	}
	if _, err := os.Stat(snapshot); !os.IsNotExist(err) {
		t.Errorf("the snapshot is there: %v", err)
	}
}
