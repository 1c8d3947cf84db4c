package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/storage"
)

// TestWhatListAndShowPrint compares what the commands list and show of each noun print, as text and as JSON, with
// testdata/golden. Scripts rely on the JSON.
func TestWhatListAndShowPrint(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url := sqliteFile.make(t)
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	t.Setenv("GATEHOUSE_SECRET_KEY", firstKey)
	seedEverything(t, url)
	for noun, lines := range map[string][]string{
		"sessions": {
			"list", "list --limit 1", "show console:demo@1", "show console:demo --tail 1", "show console:nobody",
		},
		"turns": {
			"list", "list --waiting", "list --conversation console:other", "list --session console:demo@1 --limit 2",
			"show 1", "show 2", "show 3", "show 4", "show 5", "show id-1", "show 99", "show 3 --evidence",
		},
		"approvals": {
			"list", "list --state approved --state answered", "list --conversation console:other", "list --limit 1",
			"show ap-1", "show ap-2", "show q-1", "show q-2", "show q-2 --reveal", "show ap-9", "show q-",
		},
		"deadletters": {
			"list", "list --limit 1", "show 2", "show 1", "show 5", "show post:1", "show post:2", "show post:3",
			"show post:x",
		},
	} {
		t.Run(noun, func(t *testing.T) {
			var all bytes.Buffer
			for _, line := range lines {
				for _, flags := range []string{"", " --json"} {
					fmt.Fprintf(&all, "$ gatehouse %s %s%s\n", noun, line, flags)
					args := strings.Fields(noun + " " + line + flags)
					if code := run(t.Context(), args, cli.Stdio{Out: &all, Err: &all}, platforms); code != 0 {
						fmt.Fprintf(&all, "exit code %d\n", code)
					}
					all.WriteString("\n")
				}
			}
			adaptertest.GoldenText(t, "nouns/"+noun+".txt", all.Bytes())
		})
	}
}

// seedEverything fills a database as seed does, at noon: the approval ap-1 is approved, and its call has run; ap-2 is
// open; the question q-1 is answered, and its turn then asks q-2; posts 1 and 2 are dead letters, and turn 5 is
// dropped.
func seedEverything(t *testing.T, url string) {
	t.Helper()
	now, ids := adaptertest.Noon, 0
	store, err := storage.Open(t.Context(), url, storage.Options{
		Now:    func() time.Time { return now },
		NewID:  func() string { ids++; return fmt.Sprintf("id-%d", ids) },
		Signer: signerOf(t, firstKey),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := newSeeder(t.Context(), store)
	service := approvals.NewService(store, store)
	vote := func(click core.Click) {
		t.Helper()
		now = now.Add(time.Minute)
		if _, err := service.AdminVote(t.Context(), click, "Bob", "root"); err != nil {
			t.Fatal(err)
		}
	}
	do := func(err error) {
		t.Helper()
		if now = now.Add(time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	do(s.answered())
	do(s.dead())
	do(s.suspended())
	vote(core.Click{Approval: "ap-1", Choice: core.Approve, Reason: "use sk-0123456789abcdef0123456789abcdef"})
	do(s.resumed("ap-1", core.ToolResult{Content: "noted; the password is hunter2"}))
	do(s.turn("e5", "dropped", func(core.Claim) core.Finish {
		return core.Finish{End: core.End{Kind: core.EndDead, Category: core.Internal, Cause: "a\ttab"}}
	}))
	do(store.Drop(t.Context(), 5))
	do(s.asks("e6", "ap-2", nil))
	colour, err := question.New("Which colour?", json.RawMessage(
		`{"oneOf":[{"const":"a"},{"const":"b","title":"Bee"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	do(s.asks("e7", "q-1", &colour))
	vote(core.Click{Approval: "q-1", Choice: core.Answer, Answer: `"b"`})
	form, err := question.New("Log in with sk-0123456789abcdef0123456789abcdef?", json.RawMessage(`{"type":"object",
		"properties":{"user":{"type":"string","minLength":2,"description":"Your account"},"age":{"type":"integer"}},
		"required":["user"]}`))
	if err != nil {
		t.Fatal(err)
	}
	do(s.asks("e8", "q-2", &form))
	_, err = store.Accept(t.Context(), s.event("e9", "still there?"))
	do(err)
	now = now.Add(time.Hour)
	do(s.undelivered())
}

// resumed claims the turn that an approval resumes, runs its call with a result, and answers.
func (s *seeder) resumed(id core.ApprovalID, result core.ToolResult) error {
	claims, err := s.store.Claim(s.ctx, core.ClaimRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
	if err != nil || len(claims) != 1 {
		return fmt.Errorf("%d claims: %w", len(claims), err)
	}
	c := claims[0]
	a, err := s.store.LoadApproval(s.ctx, id)
	if err != nil {
		return err
	}
	if _, err := s.store.BeginIntent(s.ctx, c,
		core.Intent{Approval: id, Invocation: a.Invocation, Tool: a.Call.Tool, Digest: a.Call.Digest}); err != nil {
		return err
	}
	if err := s.store.FinishIntent(s.ctx, c, id, result); err != nil {
		return err
	}
	return s.store.Finish(s.ctx, core.Finish{
		Claim: c,
		End:   core.End{Kind: core.EndReplied},
		Changes: core.Changes{Session: s.session(c,
			core.Message{Role: core.ToolRole, ToolCallID: "c1", Content: core.Text(result.Content)})},
	})
}
