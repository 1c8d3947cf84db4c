package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// auditLog returns a log of n entries, and its keys.
func auditLog(t *testing.T, n int) (log []audit.Entry, keys audit.Keys) {
	t.Helper()
	signer, err := core.NewSigner("a key that is long enough")
	if err != nil {
		t.Fatal(err)
	}
	keys = audit.KeysOf(signer)
	prev := ""
	for i := range n {
		e := audit.Entry{
			Seq: int64(i + 1), At: time.Unix(int64(i), 0), Approval: "a", Action: "voted", Actor: fmt.Sprint("x:", i),
			Reason: "why", Session: "s@1",
		}
		log = append(log, keys.SealEntry(prev, e))
		prev = log[i].Hash
	}
	return log, keys
}

func TestAuditFaultsAreNamed(t *testing.T) {
	place := func(log []audit.Entry, at int, e audit.Entry) { e.Seq = int64(at + 1); log[at] = e }
	for name, c := range map[string]struct {
		change func(log []audit.Entry) []audit.Entry
		want   string
	}{
		"nothing":          {func(log []audit.Entry) []audit.Entry { return log }, ""},
		"an erased reason": {func(log []audit.Entry) []audit.Entry { log[3].Reason = ""; return log }, ""},
		"another reason": {func(log []audit.Entry) []audit.Entry { log[3].Reason = "because"; return log },
			"The audit log is broken at entry 4: its reason is not the one that was given."},
		"another session": {func(log []audit.Entry) []audit.Entry { log[3].Session = "s@2"; return log },
			"The audit log is broken at entry 4: it was changed since it was written."},
		"three in a circle": {func(log []audit.Entry) []audit.Entry {
			a, b, c := log[1], log[2], log[3]
			place(log, 1, b)
			place(log, 2, c)
			place(log, 3, a)
			return log
		}, "Entry 2 of the audit log was moved: it has the number 4 now.\nEntry 3 of the audit log was moved: it has " +
			"the number 2 now.\nEntry 4 of the audit log was moved: it has the number 3 now."},
		"a copy over another": {func(log []audit.Entry) []audit.Entry { place(log, 4, log[1]); return log },
			"The audit log is broken at entry 5: it was changed since it was written."},
		"an entry that another replaced, signed with the key": {func(log []audit.Entry) []audit.Entry {
			return append(log[:2:2], append([]audit.Entry{resealed(t, log[2])}, log[3:]...)...)
		}, "The audit log is broken at entry 4: it was not written after the entry before it. One of the two was " +
			"replaced."},
		"the ends": {func(log []audit.Entry) []audit.Entry { return log[1:4] },
			"Entry 1 of the audit log is missing.\nThe entries after 4 of the audit log are missing: its head names " +
				"entry 6."},
		"all": {func([]audit.Entry) []audit.Entry {
			return nil
		}, "All entries of the audit log are missing: its head names entry 6."},
	} {
		log, keys := auditLog(t, 6)
		check := keys.Check()
		for _, e := range c.change(log) {
			check.Entry(e)
		}
		var told []string
		for _, f := range check.Faults(6) {
			told = append(told, f.Text)
		}
		if got := strings.Join(told, "\n"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// resealed is an entry with another actor, sealed like the first.
func resealed(t *testing.T, e audit.Entry) audit.Entry {
	t.Helper()
	_, keys := auditLog(t, 0)
	e.Actor = "x:eve"
	return keys.SealEntry(e.Prev, e)
}

func TestAPartOfTheAuditLogCanBeChecked(t *testing.T) {
	log, keys := auditLog(t, 6)
	if err := keys.Verify(log[2].Hash, log[3:]); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"after another entry": keys.Verify(log[1].Hash, log[3:]), "from the start": keys.Verify("", log[3:]),
		"with a gap": keys.Verify("", append(log[:2:2], log[4:]...)),
	} {
		if core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
