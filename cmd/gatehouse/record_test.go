package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/question"
	"gatehouse/storage"
)

// requested opens a database with a secret key, in which the approval ap-1 is open.
func requested(t *testing.T, e engine) (url string, store *storage.Store, s *seeder) {
	t.Helper()
	url = e.make(t)
	store, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, firstKey)})
	noErr(t, err)
	t.Cleanup(func() { _ = store.Close() })
	s = newSeeder(t.Context(), store)
	noErr(t, s.suspended())
	return url, store, s
}

func voteOf(who core.Actor, choice core.Choice) core.Decision {
	return core.Decision{Approval: "ap-1", Vote: &core.Vote{Actor: who, Choice: choice}}
}

// TestLaw5_ARequestThatWasChangedInTheDatabaseIsNotApproved: who can write the tables, but has no secret key, changes
// who may decide a request, for whom, until when, or what its card says. Nobody can approve it then, and everybody who
// may can deny it.
func TestLaw5_ARequestThatWasChangedInTheDatabaseIsNotApproved(t *testing.T) {
	const other = `{"text":"rum","password":"hunter2"}`
	for name, change := range map[string][]string{
		"approvers":        {changedBody(`"local"]`, `"local","console:eve"]`)},
		"who asked":        {changedBody("console:ann", "console:eve")},
		"the summary":      {changedBody("Add", "Read")},
		"the deadline":     {`update approvals set deadline = 9000000000000000000`},
		"the conversation": {`update approvals set session = 'console:other/1'`},
		"the call":         {changedBody("milk", "rum"), changedBody(seedDigest, digestOfNote(t, other))},
		"a forged vote": {`insert into votes (approval, n, actor, body) values ('ap-1', 0, ` +
			`'console:eve', '{"actor":{"id":"console:eve"},"choice":"approve","at":"2026-01-01T00:00:00Z"}')`},
		"an entry in the log":      {`update audit set detail = replace(detail, 'record ', 'record 0')`},
		"the log of another one":   {`update audit set approval = 'ap-2'`},
		"the key of an entry":      {`update audit set key = ''`},
		"what the log holds of it": {changedBody("Add", "Read"), `update audit set detail = ''`},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, e engine) {
				url, store, _ := requested(t, e)
				asAttacker(t, url, change...)
				ann := core.Actor{ID: "console:ann", Local: true}
				for _, who := range []core.Actor{ann, {ID: "console:eve", Local: true}} {
					_, err := store.Decide(t.Context(), voteOf(who, core.Approve))
					if core.CategoryOf(err) != core.Invalid ||
						!strings.Contains(core.MessageOf(err), "is not the one that was asked for") {
						t.Errorf("%s: %v", who.ID, err)
					}
				}
				got, err := store.Decide(t.Context(), voteOf(ann, core.Deny))
				if err != nil || got.Approval.State != core.Denied {
					t.Errorf("a denial: %v, %v", got.Approval.State, err)
				}
				log, err := store.AuditLog(t.Context(), 0, 0)
				if err != nil || len(log) < 3 || log[1].Action != audit.Altered || log[2].Action != audit.Altered {
					t.Errorf("the log is %+v, %v", log, err)
				}
			})
		})
	}
}

func digestOfNote(t *testing.T, arguments string) string {
	t.Helper()
	digest, err := noteDigest(arguments)
	noErr(t, err)
	return digest
}

// TestLaw5_AForgedDecisionRunsNothing: who can write the tables, but has no secret key, makes an open request an
// approved one, or changes one that was approved. Its tool does not begin.
func TestLaw5_AForgedDecisionRunsNothing(t *testing.T) {
	const approved = `update approvals set state = 'approved', decided_by = '{"id":"console:ann"}', decided_at = 1`
	for name, change := range map[string]func(t *testing.T, store *storage.Store) []string{
		"a state": func(*testing.T, *storage.Store) []string { return []string{approved} },
		"a state, and an entry": func(t *testing.T, store *storage.Store) []string {
			log, err := store.AuditLog(t.Context(), 0, 0)
			noErr(t, err)
			return []string{
				approved,
				fmt.Sprintf(
					`insert into audit
				(seq, at, approval, action, actor, detail, reason, reason_digest, session, key, prev, hash)
				values (9, 1, 'ap-1', 'approved', 'console:ann', 'record %s', '', '', '', '%s', '', '')`,
					log[0].Held(audit.OfRecord), log[0].Key),
			}
		},
		"what was approved": func(t *testing.T, store *storage.Store) []string {
			if _, err := store.Decide(t.Context(),
				voteOf(core.Actor{ID: "console:ann", Local: true}, core.Approve)); err != nil {
				t.Fatal(err)
			}
			return []string{
				changedBody("milk", "rum"),
				changedBody(seedDigest, digestOfNote(t, `{"text":"rum","password":"hunter2"}`)),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, e engine) {
				url, store, s := requested(t, e)
				asAttacker(t, url, change(t, store)...)
				if _, err := store.Accept(t.Context(), s.event("e9", "go on")); err != nil {
					t.Fatal(err)
				}
				claims, err := store.Claim(t.Context(), core.ClaimRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
				if err != nil || len(claims) != 1 {
					t.Fatalf("%d claims, %v", len(claims), err)
				}
				a, err := store.LoadApproval(t.Context(), "ap-1")
				if err != nil || a.State != core.Approved {
					t.Fatalf("%+v, %v", a, err)
				}
				_, err = store.BeginIntent(t.Context(), claims[0],
					core.Intent{Approval: a.ID, Invocation: a.Invocation, Tool: a.Call.Tool, Digest: a.Call.Digest})
				if core.CategoryOf(err) != core.ApprovalMismatch ||
					!strings.Contains(core.MessageOf(err), "somebody changed its database") {
					t.Errorf("the tool may begin: %v", err)
				}
			})
		})
	}
}

// TestARequestOfAnUnknownKeyIsNotApproved: a key was replaced, and the earlier one was not kept. The refusal says what
// to do.
func TestARequestOfAnUnknownKeyIsNotApproved(t *testing.T) {
	url, first, _ := requested(t, sqliteFile)
	noErr(t, first.Close())
	open := func(keys ...string) *storage.Store {
		store, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, keys...)})
		noErr(t, err)
		return store
	}
	ann, store := core.Actor{ID: "console:ann", Local: true}, open(secondKey)
	_, err := store.Decide(t.Context(), voteOf(ann, core.Approve))
	if core.CategoryOf(err) != core.Unsupported || !strings.Contains(core.MessageOf(err), "GATEHOUSE_SECRET_KEY") {
		t.Errorf("without the earlier key: %v", err)
	}
	_ = store.Close()
	store = open(secondKey, firstKey)
	defer store.Close()
	if got, err := store.Decide(t.Context(), voteOf(ann, core.Approve)); err != nil ||
		got.Approval.State != core.Approved {
		t.Errorf("with it: %+v, %v", got.Approval, err)
	}
}

// TestLaw5_AForgedAnswerIsNotUsed: who can write the tables, but has no secret key, answers a question, or changes its
// answer or its text. The answer is not what the audit log records, so no turn gets it.
func TestLaw5_AForgedAnswerIsNotUsed(t *testing.T) {
	const forged = `insert into votes (approval, n, actor, body) values ('q-1', 0, 'console:eve', ` +
		`'{"actor":{"id":"console:eve"},"choice":"answer","answer":"\"no\"","at":"2026-01-01T00:00:00Z"}')`
	for name, change := range map[string][]string{
		"an answer":    {forged, `update approvals set state = 'answered' where id = 'q-1'`},
		"its value":    {`update votes set body = replace(body, 'yes', 'no') where approval = 'q-1'`},
		"who answered": {`update approvals set decided_by = '{"id":"console:eve"}' where id = 'q-1'`},
		"the question": {`update approvals set body = replace(body, 'Really?', 'Rather not?') where id = 'q-1'`},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, e engine) {
				url, store, _ := requested(t, e)
				q, err := question.New("Really?", nil)
				noErr(t, err)
				ann := core.Actor{ID: "console:ann"}
				_, _, err = store.OpenExternal(t.Context(), core.Approval{
					ID: "q-1", Conversation: "external:x", Address: core.Address{Platform: core.CallbackPlatform},
					Requester: core.Actor{ID: "openharness:x"}, Question: &q,
					Rule:     core.Rule{Verdict: core.VerdictAsk, Approvers: []string{ann.ID}},
					External: &core.External{Request: "r"},
				}, nil, 1)
				noErr(t, err)
				if name != "an answer" {
					d := core.Decision{
						Approval: "q-1",
						Vote:     &core.Vote{Actor: ann, Choice: core.Answer, Answer: json.RawMessage(`"yes"`)},
					}
					if _, err := store.Decide(t.Context(), d); err != nil {
						t.Fatal(err)
					}
					if a, err := store.RecordedApproval(t.Context(), "q-1"); err != nil ||
						string(a.Answer()) != `"yes"` {
						t.Fatalf("before, it is %s, %v", a.Answer(), err)
					}
				}
				asAttacker(t, url, change...)
				if a, err := store.RecordedApproval(t.Context(), "q-1"); core.CategoryOf(err) != core.ApprovalMismatch {
					t.Errorf("it is %s, %v", a.Answer(), err)
				}
			})
		})
	}
}

// TestLaw5_WhatWasChangedIsNeverRecorded: a request is changed in the database, and then something happens to it that
// the audit log records: a denial that does not end it yet, or an escalation. The log does not record what somebody put
// there, so nobody can approve it.
func TestLaw5_WhatWasChangedIsNeverRecorded(t *testing.T) {
	bob, cleo := core.Actor{ID: "slack:U2BOB"}, core.Actor{ID: "slack:U3CLEO"}
	for name, happens := range map[string]func(store *storage.Store) error{
		"a denial": func(store *storage.Store) error {
			_, err := store.Decide(t.Context(),
				core.Decision{Approval: "ap-x", Vote: &core.Vote{Actor: cleo, Choice: core.Deny}})
			return err
		},
		"an escalation": func(store *storage.Store) error {
			_, err := store.Decide(t.Context(), core.Decision{
				Approval: "ap-x", Remind: core.Escalated, By: core.Actor{ID: "clock"},
				Posts: []core.Post{{
					Key: "card/ap-x/1", To: core.Address{Platform: "slack"}, Kind: core.PostCard, Approval: "ap-x",
					Conversation: "external:x",
				}},
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, e engine) {
				url := e.make(t)
				store, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, firstKey)})
				noErr(t, err)
				defer store.Close()
				_, _, err = store.OpenExternal(t.Context(), core.Approval{
					ID: "ap-x", Conversation: "external:x", Address: core.Address{Platform: core.CallbackPlatform},
					Requester: core.Actor{ID: "openharness:x"}, State: core.Open,
					Call: core.Call{
						Tool: "external.x.pay", Arguments: json.RawMessage(`{"to":"milk"}`), Digest: "d",
						Summary: "Pay for milk.",
					},
					External: &core.External{Request: "r"},
					Rule: core.Rule{
						Verdict: core.VerdictAsk, Approvers: []string{bob.ID, cleo.ID}, Vetoes: 2,
						Escalate: core.Escalation{After: 1, To: []string{cleo.ID}},
					},
				}, nil, 1)
				noErr(t, err)
				asAttacker(t, url, changedBody("milk", "rum"))
				noErr(t, happens(store))
				_, err = store.Decide(t.Context(),
					core.Decision{Approval: "ap-x", Vote: &core.Vote{Actor: bob, Choice: core.Approve}})
				if core.CategoryOf(err) != core.Invalid ||
					!strings.Contains(core.MessageOf(err), "is not the one that was asked for") {
					t.Errorf("it can be approved: %v", err)
				}
				if _, err := store.RecordedApproval(t.Context(),
					"ap-x"); core.CategoryOf(err) != core.ApprovalMismatch {
					t.Errorf("it is recorded: %v", err)
				}
			})
		})
	}
}
