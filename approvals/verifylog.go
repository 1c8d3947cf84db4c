package approvals

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// LogReport is the result of VerifyLog. Without faults the log is intact.
type LogReport struct {
	Entries    int
	LastHash   string
	Erased     int       // entries whose reason was erased
	Calls      int       // calls whose arguments were erased
	Results    int       // results of calls that were erased
	Older      int       // entries that another key signed than the newest one that has signed
	OlderUntil time.Time // of the last one of them
	Approvals  int       // that were compared with the log
	Intents    int       // that were compared with the log
	// approvals whose entries, of an earlier build, say nothing of names, times of votes and reasons
	NotRecorded int
	Changing    int      // approvals that changed during the check, which were not compared
	Faults      []string // a sentence each, the first ones
	More        int      // further faults
}

// maxFaults is how many faults a report lists.
const maxFaults = 20

func (r *LogReport) fault(format string, args ...any) {
	if len(r.Faults) == maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// logPage is how many entries are read at a time.
const logPage = 500

// Log is the audit log, with what it tells of as the database has it.
type Log interface {
	AuditRecords(ctx context.Context) (audit.Records, error)
	// AuditLog returns up to n entries after an entry, in order.
	AuditLog(ctx context.Context, after int64, n int) ([]audit.Entry, error)
	AuditHead(ctx context.Context) (audit.Head, error)
}

// VerifyLog checks the whole audit log: each entry's hash, that the log ends where its head says, and that it tells of
// every approval and intent in the database what they say themselves. What was pruned is no fault. If expect is not
// empty, the log must also have an entry with that hash: who noted the last hash earlier finds out whether the log was
// cut or replaced since.
//
// The records are read first, then the log, then its head again. So a running gateway does not disturb the check, and
// an approval counts as changed during the check only if the head says at the end that its entries were written.
func VerifyLog(ctx context.Context, log Log, keys audit.Keys, expect string) (LogReport, error) {
	var r LogReport
	records, err := log.AuditRecords(ctx)
	if err != nil {
		return r, err
	}
	compared := comparison{&r, keys, map[core.ApprovalID]*audit.Story{}}
	read := reading{
		check: keys.Check(), signed: map[string]int{}, until: map[string]time.Time{}, expected: expect == "",
		hashes: map[int64]string{records.Before.Seq: "", records.After.Seq: ""},
	}
	for {
		page, err := log.AuditLog(ctx, read.last.Seq, logPage)
		if err != nil {
			return r, err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			read.entry(e, expect)
			compared.tell(e)
		}
	}
	r.Entries, r.Erased, r.LastHash = read.entries, read.erased, read.last.Hash
	for key, n := range read.signed {
		if key != read.check.Newest() {
			r.Older += n
			if read.until[key].After(r.OlderUntil) {
				r.OlderUntil = read.until[key]
			}
		}
	}
	head, err := log.AuditHead(ctx)
	if err != nil {
		return r, err
	}
	for _, f := range read.check.Faults(records.After.Seq) {
		r.fault("%s", f.Text)
	}
	read.hashes[read.last.Seq] = read.last.Hash
	if !read.expected {
		r.fault("The audit log has no entry with the expected hash %s: its end was cut off, or it was replaced.",
			expect)
	}
	sealed := keys.VerifyHead(records.Before, "") && keys.VerifyHead(records.After, "") &&
		keys.VerifyHead(head, read.check.Newest())
	if !sealed {
		r.fault("The head of the audit log was not sealed by a gatehouse with the newest key that has signed " +
			"entries, or a newer one of GATEHOUSE_SECRET_KEY.")
	}
	compareHeads(&r, []audit.Head{records.Before, records.After, head}, read.hashes, read.last.Seq)
	compared.records(records)
	return r, nil
}

// reading is what was read of the log.
type reading struct {
	check    *audit.Check
	entries  int
	erased   int                  // entries whose reason was erased
	signed   map[string]int       // entries by the key that signed them
	until    map[string]time.Time // the last of these
	hashes   map[int64]string     // of the entries that a head may name
	expected bool                 // the entry with the expected hash was there
	last     audit.Entry
}

func (r *reading) entry(e audit.Entry, expect string) {
	r.check.Entry(e)
	r.entries++
	r.signed[e.Key]++
	r.until[e.Key] = e.At
	if e.Reason == "" && e.ReasonDigest != "" {
		r.erased++
	}
	if _, named := r.hashes[e.Seq]; named {
		r.hashes[e.Seq] = e.Hash
	}
	r.expected = r.expected || e.Hash == expect
	r.last = e
}

// compareHeads checks the heads, in the order in which they were read, the last one after the log. hashes are those of
// the entries that they may name, last is the last entry.
func compareHeads(r *LogReport, heads []audit.Head, hashes map[int64]string, last int64) {
	end := heads[len(heads)-1]
	for _, h := range slices.Compact(heads) {
		if hash := hashes[h.Seq]; hash != "" && h.Seq > 0 && hash != h.Hash {
			r.fault("Entry %d of the audit log is not the one that its head names: the log was replaced.", h.Seq)
		}
	}
	if last > end.Seq {
		r.fault("The audit log goes on after its head: its head names entry %d, but its last entry is %d. The head "+
			"was replaced, by an empty or an older one.", end.Seq, last)
	}
}
