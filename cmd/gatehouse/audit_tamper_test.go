package main

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/audit"
)

// tampering is something that a person does who can write the tables, but has no secret key, to the log of audited:
// opened, voted, approved, begun, settled. fault is a part of what the check says.
type tampering struct {
	name  string
	do    func(log []audit.Entry) []string
	fault string
}

// statements are the same whatever the log holds.
func statements(all ...string) func([]audit.Entry) []string {
	return func([]audit.Entry) []string { return all }
}

// exchanged gives two rows each other's number.
func exchanged(a, b int64) []string {
	return []string{
		fmt.Sprintf(`update audit set seq = 1000 where seq = %d`, a),
		fmt.Sprintf(`update audit set seq = %d where seq = %d`, a, b),
		fmt.Sprintf(`update audit set seq = %d where seq = 1000`, b),
	}
}

// changedBody replaces a text in what is stored of approvals.
func changedBody(from, to string) string {
	return fmt.Sprintf(`update approvals set body = replace(body, '%s', '%s')`, from, to)
}

func tamperings() []tampering {
	all := []tampering{
		{"two entries swapped", statements(exchanged(2, 3)...), "Entries 2 and 3 of the audit log were swapped."},
		{
			"two distant entries swapped", statements(exchanged(1, 5)...),
			"Entries 1 and 5 of the audit log were swapped.",
		},
		{"the contents of two entries swapped", func(log []audit.Entry) []string {
			s := exchanged(2, 4)
			for _, e := range []audit.Entry{log[1], log[3]} {
				s = append(s,
					fmt.Sprintf(`update audit set prev = '%s', hash = '%s' where seq = %d`, e.Prev, e.Hash, e.Seq))
			}
			return s
		}, "Entries 2 and 4 of the audit log were swapped."},
		{
			"the first one deleted", statements(`delete from audit where seq = 1`),
			"Entry 1 of the audit log is missing.",
		},
		{
			"one deleted in the middle", statements(`delete from audit where seq = 3`),
			"Entry 3 of the audit log is missing.",
		},
		{
			"several deleted in the middle", statements(`delete from audit where seq in (2, 3, 4)`),
			"The entries 2 to 4 of the audit log are missing.",
		},
		{
			"one deleted, and the gap closed",
			statements(`delete from audit where seq = 3`, `update audit set seq = 3 where seq = 4`,
				`update audit set seq = 4 where seq = 5`),
			"Entry 3 of the audit log is missing.\nEntry 4 of the audit log was moved: it has the number 3 now.",
		},
		{
			"the tail cut", statements(`delete from audit where seq > 3`),
			"The entries after 3 of the audit log are missing: its head names entry 5.",
		},
		{
			"emptied", statements(`delete from audit`),
			"All entries of the audit log are missing: its head names entry 5.",
		},
		{
			"two things at once",
			statements(`delete from audit where seq = 2`, `update audit set actor = 'eve' where seq = 4`),
			"Entry 2 of the audit log is missing.\nThe audit log is broken at entry 4",
		},
		{
			"an approval without entries",
			statements(
				`insert into approvals (id, invocation, session, conversation, body, state, reason, decided_by,
			decided_at, created_at, deadline, begun, changed, requester)
			select 'ap-9', 'i', session, conversation, body, state, reason, decided_by, decided_at, created_at,
			deadline, begun, changed, requester from approvals`),
			"The approval ap-9 is in the database, but the audit log does not say that it was opened.",
		},
		{
			"an intent without entries",
			statements(
				`insert into intents (approval, invocation, tool, digest, begun_at) values ('ap-9', 'i', 'rm', ` +
					`'d', 1)`),
			"The tool of the approval ap-9 was started, but the audit log has no entry of it.",
		},
		{
			"a vote for another choice", statements(`update votes set body = replace(body, 'approve', 'deny')`),
			"The approval ap-1 has votes of other people or for another choice",
		},
		{
			"a vote of another person", statements(`update votes set body = replace(body, 'local-admin', 'eve')`),
			"The approval ap-1 has votes of other people or for another choice",
		},
		{
			"another result", statements(`update intents set content = '"thirteen notes"'`),
			"The result of the tool of the approval ap-1 is not the one that the audit log has the digest of",
		},
		{
			"another outcome", statements(`update intents set category = 'tool_failed'`),
			`The result of the tool of the approval ap-1 is "tool_failed" in the database, but "succeeded" in the ` +
				`audit log.`,
		},
		{
			"another approver", statements(changedBody(`"local"`, `"eve"`)),
			"The rule, the requester, the deadline or the conversation of the approval ap-1 was changed",
		},
		{
			"another requester", statements(changedBody("console:ann", "console:eve")),
			"The rule, the requester, the deadline or the conversation of the approval ap-1 was changed",
		},
		{
			"another deadline", statements(`update approvals set deadline = 1`),
			"The rule, the requester, the deadline or the conversation of the approval ap-1 was changed",
		},
		{
			"another summary", statements(changedBody("Add", "Read")),
			"What the card of the approval ap-1 says of the call, or its decision, was changed",
		},
		{
			"a call that can't be read", statements(changedBody("note.add", `"`)),
			"The approval ap-1 can't be read from the database",
		},
		{
			"a vote that can't be read", statements(`update votes set body = '{'`),
			"The approval ap-1 can't be read from the database",
		},
		{
			"a result that can't be read", statements(`update intents set content = '"'`),
			"The result of the tool of the approval ap-1 can't be read from the database",
		},
		{"a head of an earlier entry", func(log []audit.Entry) []string {
			return []string{fmt.Sprintf(`update audit_head set seq = 3, hash = '%s'`, log[2].Hash)}
		}, "The head of the audit log was not sealed"},
		{"no head", statements(`delete from audit_head`), "its head names entry 0, but its last entry is 5"},
	}
	for column, change := range map[string]string{
		"at": `at + 1`, "approval": `'A' || substr(approval, 2)`, "action": `'V' || substr(action, 2)`,
		"actor": `'L' || substr(actor, 2)`, "detail": `substr(detail, 2)`,
		"reason": `reason || '!'`, "reason_digest": `'x' || substr(reason_digest, 2)`, "session": `session || '0'`,
		"prev": `'x' || substr(prev, 2)`, "hash": `'x' || substr(hash, 2)`,
		"key": `'x' || substr(key, 2)`,
	} {
		all = append(all,
			tampering{
				"one byte of " + column, statements(`update audit set ` + column + ` = ` + change + ` where seq = 2`),
				"The audit log is broken at entry 2",
			})
	}
	all = append(all,
		tampering{
			"one byte of seq", statements(`update audit set seq = 12 where seq = 2`),
			"Entry 2 of the audit log was moved: it has the number 12 now.",
		})
	for column, change := range map[string]string{
		"seq": `seq + 1`, "hash": `'x' || substr(hash, 2)`, "pruned": `pruned + 1`, "seal": `'x' || substr(seal, 2)`,
	} {
		all = append(all,
			tampering{
				"one byte of the head's " + column, statements(`update audit_head set ` + column + ` = ` + change),
				"The head of the audit log was not sealed",
			})
	}
	return all
}

// TestAuditLogNamesWhatWasDone: the check names each entry that was changed, swapped or removed, and each approval that
// the log does not fit.
func TestAuditLogNamesWhatWasDone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		for _, test := range tamperings() {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				url, store := audited(t, e)
				log, err := store.AuditLog(t.Context(), 0, 0)
				noErr(t, err)
				asAttacker(t, url, test.do(log)...)
				if text := strings.Join(verified(t, store, store.Signer(), "").Faults, "\n"); !strings.Contains(text,
					test.fault) {
					t.Errorf("the faults are\n%s\nwant\n%s", text, test.fault)
				}
			})
		}
	})
}

// TestVerifyCommandNamesWhatWasDone: so does the command, which fails, and says what to do.
func TestVerifyCommandNamesWhatWasDone(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	t.Setenv("GATEHOUSE_SECRET_KEY", firstKey)
	whole, store := audited(t, sqliteFile)
	log, err := store.AuditLog(t.Context(), 0, 0)
	noErr(t, err)
	copies := sqliteFile.startingWith(t, whole)
	t.Setenv("GATEHOUSE_DATABASE_URL", copies.make(t))
	if code, out, errs := gatehouse(t, "approvals", "log", "--verify"); code != cli.ExitDone {
		t.Fatalf("at first it ends with %d:\n%s%s", code, out, errs)
	}
	for _, test := range tamperings() {
		t.Run(test.name, func(t *testing.T) {
			url := copies.make(t)
			t.Setenv("GATEHOUSE_DATABASE_URL", url)
			asAttacker(t, url, test.do(log)...)
			code, out, errs := gatehouse(t, "approvals", "log", "--verify")
			if code != cli.ExitBad || !strings.Contains(strings.ReplaceAll(errs, "\n  ", "\n"), test.fault) ||
				!strings.Contains(errs, "Keep a copy of the database") {
				t.Errorf("it ends with %d:\n%s%s\nwant\n%s", code, out, errs, test.fault)
			}
		})
	}
}

// TestAuditLogMissesNoErasedResult: a result that was erased is counted, and is no fault.
func TestAuditLogMissesNoErasedResult(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		_, store := audited(t, e)
		noErr(t, store.DeleteSession(t.Context(), seedConversation.Session(1)))
		if r := verified(t, store, store.Signer(), ""); len(r.Faults) > 0 || r.Results != 1 || r.Erased != 2 {
			t.Errorf("got %+v", r)
		}
	})
}

// TestAuditLogRefusesAContradiction: a call that was started can't also be one that was not run, whoever signed that.
func TestAuditLogRefusesAContradiction(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url, store := audited(t, e)
		h := headOf(t, store)
		forged := audit.KeysOf(store.Signer()).SealEntry(h.Hash,
			audit.Entry{Seq: h.Seq + 1, Approval: "ap-1", Action: audit.NotRun, Actor: "eve", Detail: "stopped"})
		asAttacker(t, url,
			fmt.Sprintf(
				`insert into audit (seq, at, approval, action, actor, detail, reason, reason_digest, session, key, prev,
			hash)
			values (%d, 0, 'ap-1', '%s', 'eve', 'stopped', '', '', '', '%s', '%s', '%s')`, forged.Seq, forged.Action,
				forged.Key, forged.Prev, forged.Hash),
			setHead(audit.KeysOf(store.Signer()).SealHead(audit.Head{Seq: forged.Seq, Hash: forged.Hash})))
		want := "The audit log says of the tool of the approval ap-1 both that it was started and that it was not run."
		if r := verified(t, store, store.Signer(), ""); !strings.Contains(strings.Join(r.Faults, "\n"), want) {
			t.Errorf("the faults are %q", r.Faults)
		}
	})
}

// TestAuditHeadIsKeptElsewhere: the head can be printed, kept, and given to a later check, which verifies its seal.
func TestAuditHeadIsKeptElsewhere(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url, store := audited(t, sqliteFile)
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	t.Setenv("GATEHOUSE_SECRET_KEY", firstKey)
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := gatehouse(t, append([]string{"approvals", "log"}, args...)...)
		if code != want {
			t.Fatalf("%v ends with %d, want %d:\n%s%s", args, code, want, out, errs)
		}
		return out + errs
	}
	head := run(cli.ExitDone, "--head")
	if strings.Count(head, "\n") != 1 ||
		!strings.HasPrefix(head, `{"seq":5,"hash":"`+headOf(t, store).Hash+`","seal":"`) {
		t.Fatalf("the head is %s", head)
	}
	run(cli.ExitDone, "--expect", head)
	rejected(t, store)
	run(cli.ExitDone, "--expect", head)
	if text := run(cli.ExitBad, "--expect", strings.Replace(head, `"seq":5`, `"seq":4`, 1)); !strings.Contains(text,
		"was not sealed") {
		t.Errorf("of a changed head it says %s", text)
	}
	run(cli.ExitUsage, "--expect", "{")
	asAttacker(t, url, `delete from audit`, `delete from intents`, `delete from votes`, `delete from approvals`,
		`update audit_head set seq = 0, hash = '', pruned = 0, seal = ''`)
	if text := run(cli.ExitBad, "--expect", head); !strings.Contains(text,
		"no entry with the expected hash "+headOfLine(head)) {
		t.Errorf("of an emptied log it says %s", text)
	}
	asAttacker(t, url, `update audit_head set seq = 5`)
	if text := run(cli.ExitBad, "--head"); !strings.Contains(text, "was not sealed") {
		t.Errorf("of a forged head it says %s", text)
	}
}

// headOfLine returns the hash in a printed head.
func headOfLine(line string) string {
	_, after, _ := strings.Cut(line, `"hash":"`)
	hash, _, _ := strings.Cut(after, `"`)
	return hash
}
