package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

const (
	firstKey  = "the first secret key"
	secondKey = "the second secret key"
)

func signerOf(t *testing.T, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asAttacker runs SQL on a database, past the store.
func asAttacker(t *testing.T, url string, statements ...string) {
	t.Helper()
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		db, err := sql.Open("sqlite3", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatalf("%s: %v", s, err)
			}
		}
	} else if err := postgrestest.Run(url, statements...); err != nil {
		t.Fatal(err)
	}
}

// executed stores a turn whose tool was approved, with a reason, and run.
func executed(t *testing.T, store *storage.Store) {
	t.Helper()
	ctx := t.Context()
	s := newSeeder(ctx, store)
	if err := s.suspended(); err != nil {
		t.Fatal(err)
	}
	vote := core.Vote{Actor: core.Actor{ID: "local-admin"}, Choice: core.Approve, Reason: "it is due"}
	if _, err := store.Decide(ctx, core.Decision{Approval: "ap-1", Vote: &vote, Admin: true}); err != nil {
		t.Fatal(err)
	}
	claims, err := store.Claim(ctx, core.ClaimRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	c := claims[0]
	intent := core.Intent{Approval: "ap-1", Invocation: c.Event.Invocation, Tool: "note.add", Digest: seedDigest}
	if _, err := store.BeginIntent(ctx, c, intent); err != nil {
		t.Fatal(err)
	}
	if err := store.FinishIntent(ctx, c, "ap-1", core.ToolResult{Content: "twelve notes"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Finish(ctx,
		core.Finish{
			Claim:   c,
			End:     core.End{Kind: core.EndReplied},
			Changes: core.Changes{Resumed: c.Event.Invocation},
		}); err != nil {
		t.Fatal(err)
	}
}

// audited opens a database with a secret key and runs executed.
func audited(t *testing.T, e engine) (url string, store *storage.Store) {
	t.Helper()
	url = e.make(t)
	store, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, firstKey)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	executed(t, store)
	return url, store
}

func verified(t *testing.T, store *storage.Store, signer *core.Signer, expect string) approvals.LogReport {
	t.Helper()
	r, err := approvals.VerifyLog(t.Context(), store, audit.KeysOf(signer), expect)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plainHash is a hash that anybody can compute, as over an entry with these values.
func plainHash(values ...any) string {
	text, _ := json.Marshal(values)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// TestAuditLogShowsTampering: who can write the tables, but has no secret key, can't change what the audit log tells.
func TestAuditLogShowsTampering(t *testing.T) {
	const resetHead = `update audit_head set seq = 0, hash = '', pruned = 0, seal = ''`
	forged := plainHash("prev", 6, "2030-01-01T00:00:00Z", "ap-1", "denied", "mallory", "")
	onEachEngine(t, func(t *testing.T, e engine) {
		for name, tamper := range map[string]struct {
			statements []string
			fault      string // a part of one
		}{
			"nothing": {nil, ""},
			"the tail cut": {
				[]string{`delete from audit where seq > 2`},
				"The entries after 2 of the audit log are missing: its head names entry 5.",
			},
			"and the head": {[]string{
				`delete from audit where seq > 2`,
				`update audit_head set seq = 2, hash = (select hash from audit where seq = 2)`,
			}, "head of the audit log"},
			"emptied": {
				[]string{`delete from audit`}, "All entries of the audit log are missing: its head names entry 5.",
			},
			"and the head, too": {
				[]string{`delete from audit`, resetHead},
				"ap-1 is in the database, but the audit log does not say that it was opened",
			},
			"an entry changed": {[]string{`update audit set actor = 'mallory' where seq = 3`}, "broken at entry 3"},
			"a reason changed": {[]string{`update audit set reason = 'no reason' where seq = 2`}, "broken at entry 2"},
			"an entry removed": {[]string{`delete from audit where seq = 4`}, "Entry 4 of the audit log is missing."},
			"an entry with a plain hash": {[]string{
				`insert into audit (seq, at, approval, action, actor, detail, reason, reason_digest, key, prev, hash)
					select 6, 0, 'ap-1', 'denied', 'mallory', '', '', '', key, hash,
					'` + forged + `' from audit where seq = 5`,
				`update audit_head set seq = 6, hash = '` + forged + `'`}, "broken at entry 6"},
			"a state changed": {
				[]string{`update approvals set state = 'refused'`},
				"ap-1 is refused in the database, but approved in the audit log",
			},
			"another decider": {
				[]string{`update approvals set decided_by = '{"id":"mallory"}'`},
				`decided by "mallory" in the database`,
			},
			"another call": {[]string{
				`update approvals set body = replace(body, '"digest":"` + seedDigest + `"', '"digest":"d2"')`,
			}, "ap-1 is for another call"},
			"a vote removed":    {[]string{`delete from votes`}, "ap-1 has 0 votes in the database, but 1"},
			"an intent removed": {[]string{`delete from intents`}, "has no intent of it"},
			"an approval removed": {
				[]string{`delete from votes`, `delete from approvals`}, "ap-1, which is not in the database",
			},
			"an intent added": {[]string{`insert into intents (approval, invocation, tool, digest, begun_at) ` +
				`values ('ap-9', 'i', 'rm', 'd', 1)`},
				"ap-9 was started, but the audit log has no entry of it"},
			"a call said to be not run": {
				[]string{`update intents set begun_at = 0`},
				"ap-1 was not run, says the database, but the audit log has no entry of that",
			},
			"an approval added": {[]string{`insert into approvals (id, invocation, session, conversation, body, ` +
				`state, reason, decided_by, decided_at, created_at, deadline, begun, changed, requester) select ` +
				`'ap-9', 'i', session, conversation, body, state, reason, decided_by, decided_at, created_at, ` +
				`deadline, begun, changed, requester from approvals`},
				"ap-9 is in the database, but the audit log"},
			"a cut log with an empty head": {[]string{
				resetHead, `delete from audit where seq > 1`, `delete from intents`, `delete from votes`,
				`update approvals set state = 'open'`,
			}, "its head names entry 0, but its last entry is 1"},
			"an empty head alone": {[]string{resetHead}, "its head names entry 0, but its last entry is 5"},
			"a claim to be pruned": {[]string{
				`delete from intents`, `delete from votes`, `delete from approvals`,
				`update audit_head set pruned = 4000000000000000000`,
			}, "head of the audit log"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url, store := audited(t, e)
				before := verified(t, store, store.Signer(), "")
				if len(before.Faults) > 0 || before.Entries != 5 || before.Approvals != 1 || before.Intents != 1 {
					t.Fatalf("at first: %+v", before)
				}
				asAttacker(t, url, tamper.statements...)
				got := verified(t, store, store.Signer(), "")
				if text := strings.Join(got.Faults, "\n"); (text == "") != (tamper.fault == "") ||
					!strings.Contains(text, tamper.fault) {
					t.Errorf("the faults are %q, want %q", text, tamper.fault)
				}
			})
		}
	})
}

// TestAuditLogShowsAnOlderHead: a head that was sealed earlier and is put back hides nothing that came after it.
func TestAuditLogShowsAnOlderHead(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url, store := audited(t, e)
		earlier := headOf(t, store)
		rejected(t, store)
		asAttacker(t, url, setHead(earlier), `update approvals set state = 'refused'`)
		r := verified(t, store, store.Signer(), "")
		if text := strings.Join(r.Faults, "\n"); !strings.Contains(text,
			"its head names entry 5, but its last entry is 6") ||
			!strings.Contains(text, "ap-1 is refused in the database") {
			t.Errorf("the faults are %q", r.Faults)
		}
	})
}

// TestAuditLogKeepsAForgedHead: a process does not sign a head that it did not find sealed. It goes on to write
// entries, and says so.
func TestAuditLogKeepsAForgedHead(t *testing.T) {
	const sealedByNobody = "head of the audit log was not sealed"
	onEachEngine(t, func(t *testing.T, e engine) {
		for name, attack := range map[string]struct {
			statements []string
			fault      string // a part of one
		}{
			"a cut log and a head that fits it": {[]string{
				`delete from audit where seq > 2`, `delete from intents`, `delete from votes`, `delete from approvals`,
				`update audit_head set seq = 2, hash = (select hash from audit where seq = 2), pruned = ` +
					`4000000000000000000, seal = 'x'`,
			}, sealedByNobody},
			"no seal": {[]string{`update audit_head set seal = ''`}, sealedByNobody},
			"an empty head": {
				[]string{`update audit_head set seq = 0, hash = '', pruned = 0, seal = ''`}, "its head names entry 0",
			},
			"a cut log and an empty head": {[]string{
				`delete from audit where seq > 2`, `update audit_head set seq = 0, hash = '', pruned = 0, seal = ''`,
			}, "its head names entry 0"},
			"a cut log": {
				[]string{`delete from audit where seq > 2`}, "The entries 3 to 5 of the audit log are missing.",
			},
			"a replaced last entry": {[]string{`update audit set hash = prev where seq = 5`}, "broken at entry 5"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url, _ := audited(t, e)
				asAttacker(t, url, attack.statements...)
				var log bytes.Buffer
				store, err := storage.Open(t.Context(), url,
					storage.Options{Signer: signerOf(t, firstKey), Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				before, err := store.AuditLog(t.Context(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					rejected(t, store)
				}
				if _, err := store.Prune(t.Context(), time.Hour); err != nil {
					t.Fatal(err)
				}
				if after, err := store.AuditLog(t.Context(), 0, 0); err != nil || len(after) != len(before)+2 {
					t.Errorf("the log has %d entries, want two more than %d, %v", len(after), len(before), err)
				}
				if r := verified(t, store, store.Signer(), ""); !strings.Contains(strings.Join(r.Faults, "\n"),
					attack.fault) {
					t.Errorf("the faults are %q, want %q", r.Faults, attack.fault)
				}
				if text := log.String(); !strings.Contains(text, "level=ERROR") ||
					!strings.Contains(text, "gatehouse approvals log --verify") {
					t.Errorf("the log says %q", text)
				}
			})
		}
	})
}

// TestAuditLogRefusesAnOlderKey: once a newer key has signed, nothing that an older one signs is accepted, be it one
// that was replaced or the one in the database.
func TestAuditLogRefusesAnOlderKey(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		for name, oldKey := range map[string]string{"a replaced key": firstKey, "the database's key": ""} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				url := e.make(t)
				var old *core.Signer
				if oldKey != "" {
					old = signerOf(t, oldKey)
				}
				first, err := storage.Open(t.Context(), url, storage.Options{Signer: old})
				if err != nil {
					t.Fatal(err)
				}
				defer first.Close()
				executed(t, first)
				if old = first.Signer(); oldKey == "" {
					key, err := first.DatabaseKey(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					oldKey = key
				}
				both := signerOf(t, secondKey, oldKey)
				configured := both
				if name == "the database's key" {
					configured = signerOf(t, secondKey)
				}
				store, err := storage.Open(t.Context(), url, storage.Options{Signer: configured})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				for range 2 {
					rejected(t, store)
				}
				if r := verified(t, store, both, ""); len(r.Faults) > 0 || r.Entries != 7 || r.Older != 5 {
					t.Fatalf("at first: %+v", r)
				}
				log, err := store.AuditLog(t.Context(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}

				// The last entry, by the new key, is replaced, and its seal is made with the old one.
				forged := log[6]
				forged.Actor = "mallory"
				forged = audit.KeysOf(old).SealEntry(log[5].Hash, forged)
				replace := fmt.Sprintf(`update audit set actor = 'mallory', key = '%s', hash = '%s' where seq = 7`,
					forged.Key, forged.Hash)
				asAttacker(t, url, replace, setHead(audit.KeysOf(old).SealHead(audit.Head{Seq: 7, Hash: forged.Hash})))
				want := []string{"broken at entry 7: it is signed with the key", "head of the audit log was not sealed"}
				for range 2 { // the second time after one more entry
					r := verified(t, store, both, "")
					for _, fault := range want {
						if !strings.Contains(strings.Join(r.Faults, "\n"), fault) {
							t.Errorf("the faults are %q, want %q", r.Faults, fault)
						}
					}
					rejected(t, store)
				}

				// The head alone is replaced.
				asAttacker(t, url, `delete from audit where seq > 6`,
					setHead(audit.KeysOf(old).SealHead(audit.Head{Seq: 6, Hash: log[5].Hash})))
				for range 2 {
					if r := verified(t, store, both, ""); !strings.Contains(strings.Join(r.Faults, "\n"), want[1]) {
						t.Errorf("with the head of an older key the faults are %q", r.Faults)
					}
					rejected(t, store)
				}
			})
		}
	})
}

// rejected adds an entry to the log: of a vote on an approval that does not exist.
func rejected(t *testing.T, store *storage.Store) {
	t.Helper()
	vote := core.Vote{Actor: core.Actor{ID: "local-admin"}, Choice: core.Approve}
	if _, err := store.Decide(t.Context(),
		core.Decision{Approval: "none", Vote: &vote}); core.CategoryOf(err) != core.NotFound {
		t.Fatal(err)
	}
}

func headOf(t *testing.T, store *storage.Store) audit.Head {
	t.Helper()
	h, err := store.AuditHead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// setHead is the statement that puts a head in place of the log's.
func setHead(h audit.Head) string {
	pruned := int64(0)
	if !h.Pruned.IsZero() {
		pruned = h.Pruned.UnixNano()
	}
	return fmt.Sprintf(`update audit_head set seq = %d, hash = '%s', pruned = %d, seal = '%s'`, h.Seq, h.Hash, pruned,
		h.Seal)
}

// TestAuditLogAfterRotationAndPruning: any of the keys verifies, and what was pruned is not missed.
func TestAuditLogAfterRotationAndPruning(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url, store := audited(t, e)
		rotated, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, secondKey, firstKey)})
		if err != nil {
			t.Fatal(err)
		}
		defer rotated.Close()
		if n, err := rotated.Prune(t.Context(), -time.Hour); err != nil || n < 2 {
			t.Fatalf("pruned %d rows, %v", n, err)
		}
		if _, err := rotated.LoadApproval(t.Context(), "ap-1"); core.CategoryOf(err) != core.NotFound {
			t.Fatalf("the approval is still there: %v", err)
		}
		vote := core.Vote{Actor: core.Actor{ID: "local-admin"}, Choice: core.Approve}
		if _, err := rotated.Decide(t.Context(),
			core.Decision{Approval: "none", Vote: &vote}); core.CategoryOf(err) != core.NotFound {
			t.Fatal(err)
		}
		log, err := rotated.AuditLog(t.Context(), 0, 0)
		if err != nil || len(log) != 6 || log[0].Key == log[5].Key {
			t.Fatalf("got %+v, %v", log, err)
		}
		if r := verified(t, rotated, rotated.Signer(), log[4].Hash); len(r.Faults) > 0 {
			t.Errorf("with both keys: %q", r.Faults)
		}
		if r := verified(t, rotated, store.Signer(), ""); !strings.Contains(strings.Join(r.Faults, "\n"),
			"broken at entry 6: it is signed with the key") {
			t.Errorf("with the old key alone: %q", r.Faults)
		}
	})
}

// TestAuditLogOfAnotherKey: a process without the key that the others sign with says so, before it makes entries that
// they can't verify.
func TestAuditLogOfAnotherKey(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url, _ := audited(t, e)
		for name, test := range map[string]struct {
			signer *core.Signer
			warns  bool
		}{
			"no key": {nil, true}, "another key": {signerOf(t, secondKey), true},
			"a new key": {signerOf(t, secondKey, firstKey), false},
		} {
			var log bytes.Buffer
			store, err := storage.Open(t.Context(), url,
				storage.Options{Signer: test.signer, Log: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			store.Close()
			if strings.Contains(log.String(), "set GATEHOUSE_SECRET_KEY") != test.warns {
				t.Errorf("with %s it logs %q", name, &log)
			}
		}
	})
}

// TestAuditLogExpectsAHash: who noted the last hash finds out that everything was removed.
func TestAuditLogExpectsAHash(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url, store := audited(t, sqliteFile)
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	t.Setenv("GATEHOUSE_SECRET_KEY", firstKey)
	check := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := gatehouse(t, append([]string{"approvals", "log"}, args...)...)
		if code != want {
			t.Fatalf("%v ends with %d, want %d:\n%s%s", args, code, want, out, errs)
		}
		return out + errs
	}
	hash := regexp.MustCompile(`[0-9a-f]{64}`).FindString(check(cli.ExitDone, "--verify"))
	vote := core.Vote{Actor: core.Actor{ID: "local-admin"}, Choice: core.Deny}
	if _, err := store.Decide(context.Background(),
		core.Decision{Approval: "ap-1", Vote: &vote, Admin: true}); core.CategoryOf(err) != core.ApprovalDecided {
		t.Fatal(err)
	}
	check(cli.ExitDone, "--verify", "--expect", hash)
	var verdict struct {
		Valid   bool
		Entries int
		Last    string `json:"last_hash"`
		Faults  []string
	}
	if err := json.Unmarshal([]byte(check(cli.ExitDone, "--verify", "--json", "--expect", strings.ToUpper(hash))),
		&verdict); err != nil || !verdict.Valid || verdict.Entries != 6 || verdict.Last == hash {
		t.Errorf("got %+v, %v", verdict, err)
	}
	asAttacker(t, url, `delete from audit`, `delete from intents`, `delete from votes`, `delete from approvals`,
		`update audit_head set seq = 0, hash = '', seal = ''`)
	check(cli.ExitDone, "--verify") // nothing is left that would tell
	if text := check(cli.ExitBad, "--verify", "--expect", hash); !strings.Contains(text,
		"no entry with the expected hash "+hash) {
		t.Errorf("it says %s", text)
	}
	check(cli.ExitUsage, "--expect", strconv.Quote(hash))
}
