package approvals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// LogReport is the result of VerifyLog. Without faults the log is intact.
type LogReport struct {
	Entries    int
	LastHash   string
	Erased     int       // entries whose reason was erased
	Older      int       // entries that another key signed than the newest one that has signed
	OlderUntil time.Time // of the last one of them
	Approvals  int       // that were compared with the log
	Intents    int       // that were compared with the log
	Changing   int       // approvals that changed during the check, which were not compared
	Faults     []string  // a sentence each, the first ones
	More       int       // further faults
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

// AuditLog is what VerifyLog reads: the records, the entries and the head of the log.
type AuditLog struct {
	Records func(ctx context.Context) (core.AuditRecords, error)
	Entries func(ctx context.Context, after int64, n int) ([]core.AuditEntry, error) // up to n entries after an entry, in order
	Head    func(ctx context.Context) (core.AuditHead, error)
}

// VerifyLog checks the whole audit log: each entry's hash, that the log ends where its head says, and that it tells of every approval and
// intent in the database what they say themselves. What was pruned is no fault. If expect is not empty, the log must also have an entry
// with that hash: who noted the last hash earlier finds out whether the log was cut or replaced since.
//
// The records are read first, then the log, then its head again. So a running gateway does not disturb the check, and an approval counts as
// changed during the check only if the head says at the end that its entries were written.
func VerifyLog(ctx context.Context, log AuditLog, signer *core.Signer, expect string) (LogReport, error) {
	var r LogReport
	records, err := log.Records(ctx)
	if err != nil {
		return r, err
	}
	found, check, signed, at := expect == "", signer.CheckAudit(), map[string]int{}, map[string]time.Time{}
	stories, hashes, last := map[core.ApprovalID]*story{}, map[int64]string{records.Before.Seq: "", records.After.Seq: ""}, int64(0)
	for {
		page, err := log.Entries(ctx, last, logPage)
		if err != nil {
			return r, err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if err := check.Entry(e); err != nil {
				r.fault("%s", core.MessageOf(err))
			}
			signed[e.Key]++
			at[e.Key] = e.At
			if e.Reason == "" && e.ReasonDigest != "" {
				r.Erased++
			}
			if _, wanted := hashes[e.Seq]; wanted {
				hashes[e.Seq] = e.Hash
			}
			found = found || e.Hash == expect
			tell(stories, e)
		}
		r.Entries, r.LastHash, last = r.Entries+len(page), page[len(page)-1].Hash, page[len(page)-1].Seq
	}
	for key, n := range signed {
		if key != check.Newest() {
			r.Older += n
			if at[key].After(r.OlderUntil) {
				r.OlderUntil = at[key]
			}
		}
	}
	if !found {
		r.fault("The audit log has no entry with the expected hash %s: its end was cut off, or it was replaced.", expect)
	}
	head, err := log.Head(ctx)
	if err != nil {
		return r, err
	}
	hashes[last] = r.LastHash
	sealed := signer.VerifyHead(records.Before, "") && signer.VerifyHead(records.After, "") && signer.VerifyHead(head, check.Newest())
	if !sealed {
		r.fault("The head of the audit log was not sealed by a gatehouse with the newest key that has signed entries, or a newer one of GATEHOUSE_SECRET_KEY.")
	}
	compareHeads(&r, []core.AuditHead{records.Before, records.After, head}, hashes, last)
	compare(&r, stories, records)
	return r, nil
}

// compareHeads checks the heads, in the order in which they were read, the last one after the log. hashes are those of the entries that they
// may name, last is the last entry.
func compareHeads(r *LogReport, heads []core.AuditHead, hashes map[int64]string, last int64) {
	after, end := heads[1], heads[2]
	for _, h := range slices.Compact(heads) {
		if hash := hashes[h.Seq]; hash != "" && h.Seq > 0 && hash != h.Hash {
			r.fault("Entry %d of the audit log is not the one that its head names: the log was replaced.", h.Seq)
		}
	}
	if last > end.Seq {
		r.fault("The audit log goes on after its head: its head names entry %d, but its last entry is %d. The head was replaced, by an empty or an older one.", end.Seq, last)
	}
	if int64(r.Entries) < after.Seq {
		r.fault("The audit log has %d entries, but %d were written: some were removed.", r.Entries, after.Seq)
	}
}

// story is what the log tells of an approval.
type story struct {
	opened  time.Time
	digest  string // of the call
	votes   int
	state   core.ApprovalState // "" = not decided
	by      string
	begun   bool
	notRun  bool   // its turn ended without it
	started string // the digest of the call that was begun
	ended   bool
	last    int64 // the last entry
}

// tell adds an entry to its approval's story. A vote that did not count tells nothing of the approval, which may not exist.
func tell(stories map[core.ApprovalID]*story, e core.AuditEntry) {
	if e.Action == core.AuditRejected || e.Action == core.AuditAltered {
		return
	}
	s := stories[e.Approval]
	if s == nil {
		s = &story{}
		stories[e.Approval] = s
	}
	s.last = e.Seq
	switch e.Action {
	case "opened":
		s.opened, s.digest = e.At, digestIn(e.Detail)
	case "voted":
		s.votes++
	case "begun":
		s.begun, s.started = true, digestIn(e.Detail)
	case "settled", "unknown":
		s.ended = true
	case core.AuditNotRun:
		s.notRun = true
	case core.AuditRevealed, core.AuditReminded, core.AuditEscalated:
	default:
		s.state, s.by = core.ApprovalState(e.Action), e.Actor
	}
}

// digestIn returns the digest at the end of an entry's detail.
func digestIn(detail string) string {
	const mark = "digest "
	if i := strings.LastIndex(detail, mark); i >= 0 {
		return detail[i+len(mark):]
	}
	return ""
}

// compare checks the records against the stories. It skips approvals that the log mentions after the records were begun to be read.
func compare(r *LogReport, stories map[core.ApprovalID]*story, records core.AuditRecords) {
	changing := map[core.ApprovalID]bool{}
	for id, s := range stories {
		changing[id] = s.last > records.Before.Seq
	}
	stored, begun := map[core.ApprovalID]bool{}, map[core.ApprovalID]bool{}
	for _, a := range records.Approvals {
		if stored[a.ID] = true; changing[a.ID] {
			continue
		}
		r.Approvals++
		compareApproval(r, stories[a.ID], a)
	}
	for _, i := range records.Intents {
		if begun[i.Approval] = true; changing[i.Approval] {
			continue
		}
		if !i.NotRun {
			r.Intents++
		}
		compareIntent(r, stories[i.Approval], i)
	}
	for id, s := range stories {
		pruned := s.state != "" && !s.opened.After(records.After.Pruned)
		switch {
		case changing[id]:
			r.Changing++
		case pruned:
		case !stored[id]:
			r.fault("The audit log tells of the approval %s, which is not in the database and was not pruned: it was removed.", id)
		case s.begun && !begun[id]:
			r.fault("The audit log says that the tool of the approval %s was started, but the database has no intent of it: it was removed.", id)
		case s.notRun && !begun[id]:
			r.fault("The audit log says that the tool of the approval %s was not run, but the database does not: that was removed.", id)
		}
	}
}

func compareApproval(r *LogReport, s *story, a core.AuditedApproval) {
	switch {
	case s == nil || s.opened.IsZero():
		r.fault("The approval %s is in the database, but the audit log does not say that it was opened.", a.ID)
		return
	case a.State != core.Open && s.state == "":
		r.fault("The approval %s is %s in the database, but the audit log has no entry of its decision.", a.ID, a.State)
	case a.State == core.Open && s.state != "", a.State != core.Open && a.State != s.state:
		r.fault("The approval %s is %s in the database, but %s in the audit log.", a.ID, a.State, s.state)
	case a.State != core.Open && a.DecidedBy.ID != s.by:
		r.fault("The approval %s was decided by %q in the database, but by %q in the audit log.", a.ID, a.DecidedBy.ID, s.by)
	}
	if a.Digest != s.digest {
		r.fault("The approval %s is for another call in the database than in the audit log.", a.ID)
	}
	if a.Votes != s.votes {
		r.fault("The approval %s has %d votes in the database, but %d in the audit log.", a.ID, a.Votes, s.votes)
	}
}

func compareIntent(r *LogReport, s *story, i core.AuditedIntent) {
	switch {
	case i.NotRun && (s == nil || !s.notRun):
		r.fault("The tool of the approval %s was not run, says the database, but the audit log has no entry of that.", i.Approval)
	case i.NotRun:
	case s == nil || !s.begun:
		r.fault("The tool of the approval %s was started, but the audit log has no entry of it.", i.Approval)
	case i.Digest != s.started:
		r.fault("The tool of the approval %s was started for another call in the database than in the audit log.", i.Approval)
	case i.Ended != s.ended:
		r.fault("The tool of the approval %s has ended either in the database or in the audit log, but not in both.", i.Approval)
	}
}
