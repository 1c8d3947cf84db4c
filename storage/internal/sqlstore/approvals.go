package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/question"
)

// approvalBody is the part of an approval that changes only if an approver changes the arguments.
type approvalBody struct {
	Address   core.Address `json:"address"`
	Call      core.Call    `json:"call"`
	Requested string       `json:"requested,omitempty"` // see core.Approval
	Asked     core.Asked   `json:"asked,omitzero"`
	Requester core.Actor   `json:"requester"`
	Rule      core.Rule    `json:"rule"`

	Question *question.Question `json:"question,omitempty"`
	External *core.External     `json:"external,omitempty"`
	Use      *core.Use          `json:"use,omitempty"`
}

// approvalColumns are the columns that readApproval scans. The votes are one JSON list, so that a listing is one
// statement.
const approvalColumns = `id, invocation, session, conversation, body, state, reason, decided_by, decided_at,
	created_at, deadline, begun, changed, ` + votesColumn

const votesColumn = `(select coalesce('[' || string_agg(v.body, ',' order by v.n) || ']', 'null') from votes v
	where v.approval = approvals.id)`

func readApproval(scan func(...any) error) (core.Approval, error) {
	var a core.Approval
	var b approvalBody
	err := scan(&a.ID, &a.Invocation, &a.Session, &a.Conversation, fromJSON{&b}, &a.State, &a.Reason,
		fromJSON{&a.DecidedBy},
		timestamp{&a.DecidedAt}, timestamp{&a.CreatedAt}, timestamp{&a.Deadline}, &a.Begun, &a.Changed,
		fromJSON{&a.Votes})
	a.Address, a.Call, a.Requested, a.Asked, a.Requester, a.Rule = b.Address, b.Call, b.Requested, b.Asked, b.Requester,
		b.Rule
	a.Question, a.External, a.Use = b.Question, b.External, b.Use
	return a, err
}

func bodyOf(a core.Approval) approvalBody {
	return approvalBody{a.Address, a.Call, a.Requested, a.Asked, a.Requester, a.Rule, a.Question, a.External, a.Use}
}

// RevealApproval returns an approval for a person who is to read what is masked elsewhere, and records that in the
// audit log first. It fails with not_found if there is no such approval.
func (s *Store) RevealApproval(ctx context.Context, id core.ApprovalID, actor, detail string) (core.Approval, error) {
	return write(ctx, s, func(t *Tx) (core.Approval, error) {
		if err := t.readClock(); err != nil {
			return core.Approval{}, err
		}
		a, err := t.approval(id)
		if err == nil {
			t.audit(id, audit.Revealed, actor, detail)
		}
		return a, err
	})
}

// openApproval stores a new approval; the store's clock sets its times. An approval that the policy has decided is
// stored with its signal, as if users had decided it.
func (t *Tx) openApproval(a core.Approval) error {
	if a.State == "" {
		a.State = core.Open
	}
	a.CreatedAt, a.Deadline = t.Now, time.Time{}
	switch {
	case a.State != core.Open && a.DecidedAt.IsZero():
		a.DecidedAt = t.Now
	case a.State == core.Open && a.Rule.Timeout > 0:
		a.Deadline = t.Now.Add(a.Rule.Timeout)
	}
	if _, err := t.Exec(`
		insert into approvals (id, invocation, session, conversation, body, state, reason, decided_by, decided_at,
			created_at, deadline, begun, changed, requester)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		a.ID, a.Invocation, a.Session, a.Conversation, asJSON{bodyOf(a)}, a.State, free(a.Reason), asJSON{a.DecidedBy},
		a.DecidedAt, a.CreatedAt, a.Deadline, a.Begun, free(a.Changed), a.Requester.ID); err != nil {
		return err
	}
	if err := t.storeReaders(a); err != nil {
		return err
	}
	t.audit(a.ID,
		"opened", a.Requester.ID,
		fmt.Sprintf("rule %q, verdict %s, %s, %s, %s", a.Rule.Name, a.Rule.Verdict,
			t.auditedCall(a.ID, a.Call.Tool, a.Call.Digest), t.auditedTerms(a), t.auditedRecord(a)))
	if a.Use != nil {
		if err := t.redrawMemory(*a.Use); err != nil {
			return err
		}
	}
	if a.State != core.Open {
		return t.decided(a, "", a.Reason)
	}
	for _, task := range a.Tasks() {
		if err := t.addTask(task); err != nil {
			return err
		}
	}
	return nil
}

// storeReaders stores who may see an approval that is or was open until now, and whose decision it waits for. Since
// when somebody may see it changes by the escalation alone.
func (t *Tx) storeReaders(a core.Approval) error {
	all := a.Readers()
	for _, account := range slices.Sorted(maps.Keys(all)) {
		r := all[account]
		if err := t.Do(`insert into readers (account, open, approval, since, waits)
			values ($1, true, (select seq from approvals where id = $2), $3, $4)
			on conflict (account, open, approval) do update set waits = excluded.waits`, account, a.ID, r.Since,
			r.Waits); err != nil {
			return err
		}
	}
	if a.State != core.Open {
		return t.closeReaders(a.ID)
	}
	return nil
}

func (t *Tx) closeReaders(id core.ApprovalID) error {
	return t.Do(`update readers set open = false where approval = (select seq from approvals where id = $1)`, id)
}

// openRequest stores a new approval of a turn, whose cards are posts. Where they name another request of the same call,
// the cards of these are drawn once more.
func (t *Tx) openRequest(a core.Approval, posts []core.Post) error {
	if err := t.openApproval(a); err != nil || !slices.ContainsFunc(posts, func(p core.Post) bool {
		return p.Like != ""
	}) {
		return err
	}
	return t.redrawSame(a)
}

// endTasks removes the tasks of an approval that is no longer open.
func (t *Tx) endTasks(a core.Approval) error {
	for _, task := range a.Tasks() {
		if err := t.endTask(task.Key); err != nil {
			return err
		}
	}
	return nil
}

// decided follows up a decision: it adds the audit entry, with this detail and reason, and the signal or, where another
// agent asked, the post that tells it; and it removes the tasks.
func (t *Tx) decided(a core.Approval, detail, reason string) error {
	t.auditReason(a.ID, a.Session, string(a.State), a.DecidedBy.ID, join(detail, t.auditedRecord(a)), reason)
	if a.External != nil {
		if a.External.Callback != "" {
			t.addPost(a.CallbackPost())
		}
	} else if err := t.accept(&core.Receipt{}, newEvent{Event: a.Signal()}, core.Limits{}); err != nil {
		return fmt.Errorf("storing the signal: %w", err)
	}
	return t.endTasks(a)
}

// cancelApproval cancels an approval whose paused invocation was removed. It stores no signal, since no invocation
// waits for one.
func (t *Tx) cancelApproval(a core.Approval, c core.Abandon) error {
	if err := t.checkedBefore(a); err != nil {
		return err
	}
	a.State, a.Reason, a.DecidedBy, a.DecidedAt = core.Cancelled, c.Reason, c.By, t.Now
	if err := t.storeDecision(a); err != nil {
		return err
	}
	t.auditReason(a.ID, a.Session, string(core.Cancelled), c.By.ID, t.auditedRecord(a), c.Reason)
	t.redrawCards(a.ID)
	if err := t.redrawSame(a); err != nil {
		return err
	}
	return t.endTasks(a)
}

func (t *Tx) storeDecision(a core.Approval) error {
	if _, err := t.Exec(`update approvals set state = $1, reason = $2, decided_by = $3, decided_at = $4
		where id = $5`, a.State, free(a.Reason), asJSON{a.DecidedBy}, a.DecidedAt, a.ID); err != nil {
		return err
	}
	return t.closeReaders(a.ID)
}

// LoadApproval returns an approval with its votes; it fails with not_found if there is none.
func (s *Store) LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return read(ctx, s, func(t *Tx) (core.Approval, error) { return t.approval(id) })
}

// Recorded returns an approval and, of an approved one, the intent of its call, as the audit log records them; nil if
// there is none. What is told of an approval is told of what Recorded returns. It reads the approval's entries alone.
// Errors: not_found, also for one that is being pruned, and those of audit.Keys.CheckRecorded; with these, the approval
// has no more than what the log does not contradict.
func (s *Store) Recorded(ctx context.Context, id core.ApprovalID) (a core.Approval, i *core.IntentRecord, err error) {
	var last audit.Entry
	check := func(t *Tx) (_ struct{}, err error) {
		if a, err = t.approval(id); err == nil {
			i, err = t.callOf(a)
		}
		if err == nil {
			last, err = t.checkRecorded(a, i)
		}
		return struct{}{}, err
	}
	var c *audit.Contradiction
	for before := int64(-1); ; before = last.Seq {
		_, err = read(ctx, s, check)
		if !errors.As(err, &c) || last.Seq == before { // otherwise it may have changed between the reads
			break
		}
	}
	if c == nil || !errors.As(err, &c) {
		a.Begun = i != nil && !i.BegunAt.IsZero() // that its turn went on without a call is not recorded
		return a, i, err
	}
	h, headErr := s.AuditHead(ctx)
	if headErr == nil && last.At.Before(h.Pruned) && s.allKeys.VerifyHead(h, "") {
		err = noApproval(id)
	}
	return c.Holds, nil, cmp.Or(headErr, err)
}

// RecordedApproval is Recorded without the intent.
func (s *Store) RecordedApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	a, _, err := s.Recorded(ctx, id)
	return a, err
}

func noApproval(id core.ApprovalID) error {
	return core.Errorf(core.NotFound, "There is no approval %s.", id)
}

func (t *Tx) approval(id core.ApprovalID) (core.Approval, error) {
	a, found, err := one(t, readApproval, `select `+approvalColumns+` from approvals where id = $1`, id)
	if err == nil && !found {
		err = noApproval(id)
	}
	return a, err
}

// lockedApproval locks the approval and then reads it.
func (t *Tx) lockedApproval(id core.ApprovalID) (core.Approval, error) {
	if t.sql.RowLocks {
		if _, err := t.exists(`select 1 from approvals where id = $1 for update`, id); err != nil {
			return core.Approval{}, err
		}
	}
	return t.approval(id)
}

// RedrawCards makes every card of an approval be drawn once more, in its present state. An approval without a card is
// no error.
func (s *Store) RedrawCards(ctx context.Context, id core.ApprovalID) error {
	return s.write(ctx, func(t *Tx) error {
		t.redrawCards(id)
		return nil
	})
}

// ListApprovals returns the approvals that match the filter, the latest first.
func (s *Store) ListApprovals(ctx context.Context, f core.ApprovalFilter) ([]core.Approval, error) {
	l := listingOf(f)
	if f.Before != "" {
		l.and(l.column + " < coalesce((select seq from approvals where id = " + l.arg(f.Before) + "), 0)")
	}
	return list(ctx, s, readApproval, `select `+approvalColumns+` from `+l.from, l.conditions, l.column, f.Limit)
}

// CountApprovals returns how many approvals match the filter, whatever its Before and Limit are.
func (s *Store) CountApprovals(ctx context.Context, f core.ApprovalFilter) (n int, err error) {
	l := listingOf(f)
	l.and(l.column + " > 0")
	if l.readers {
		l.from = "readers"
	}
	return read(ctx, s, func(t *Tx) (n int, err error) {
		_, err = t.Row([]any{&n}, `select count(*) from `+l.from+` where `+l.all(), l.args...)
		return n, err
	})
}

// listing is a filter as the tables it reads, the column with the approvals' numbers, and conditions.
type listing struct {
	conditions
	from, column string
	readers      bool // all conditions are of the table readers
}

func listingOf(f core.ApprovalFilter) (l listing) {
	l.from, l.column = "approvals", "seq"
	switch {
	case f.Reader != "":
		l.is("readers.account", f.Reader)
	case f.Decider.ID != "" && !f.Others:
		l.and(l.waits("readers", f))
	default:
		l.ofApprovals(f)
		return l
	}
	l.from, l.column, l.readers = "readers join approvals on seq = readers.approval", "readers.approval", true
	if l.and("readers.open = true"); f.Closed {
		l.parts[len(l.parts)-1] = "readers.open = false"
	}
	if f.Reader != "" {
		l.and("readers.since <= " + l.arg(f.At))
	}
	if f.Others {
		l.and("readers.waits = false")
	}
	parts := len(l.parts)
	l.about(f)
	l.readers = len(l.parts) == parts
	return l
}

// ofApprovals adds the conditions of a listing of the table approvals alone.
func (l *listing) ofApprovals(f core.ApprovalFilter) {
	if f.Closed {
		l.and("state <> 'open'")
	}
	// open ones of a requester have an index of their own
	if (f.Requester != "" || f.Others) && (f.Others || slices.Equal(f.States, []core.ApprovalState{core.Open})) {
		l.and("state = 'open'")
	} else {
		in(&l.conditions, "state", f.States)
	}
	if f.Others && f.Decider.ID != "" {
		l.and("not exists (select 1 from readers w where " + l.waits("w", f) + " and w.approval = approvals.seq)")
	}
	l.about(f)
}

// about adds the conditions on what an approval is about.
func (l *listing) about(f core.ApprovalFilter) {
	l.is("requester", f.Requester)
	l.is("session", string(f.Session))
	l.is("conversation", string(f.Conversation))
	l.is("invocation", string(f.Invocation))
	for _, word := range f.Words {
		l.and("replace(lower(body), " + l.arg(word) + ", '') <> lower(body)")
	}
}

// waits is the condition that a row of readers, in a table of this name, is of an open approval that waits for the
// filter's decider. What anybody at the machine may decide waits for each such person, unless a row of their own says
// that it does not.
func (l *listing) waits(table string, f core.ApprovalFilter) string {
	account, at := l.arg(f.Decider.ID), l.arg(f.At)
	whose := "T.account = " + account
	if f.Decider.Local {
		whose = "T.account in (" + account + ", '" + core.LocalPerson + "') and (" + whose + ` or not exists (
			select 1 from readers own where own.account = ` + account + ` and own.open = true
				and own.approval = T.approval and own.since <= ` + at + "))"
	}
	return strings.ReplaceAll(whose+" and T.open = true and T.waits = true and T.since <= "+at, "T.", table+".")
}

// manyChanges is how many entries of the audit log ApprovalsChanged looks at.
const manyChanges = 1000

// ApprovalsChanged returns the approvals that have changed since a place of the audit log, as of a moment. One that
// somebody read without masks has not.
func (s *Store) ApprovalsChanged(ctx context.Context, since int64, at time.Time) (c core.ApprovalChanges, err error) {
	h, err := s.AuditHead(ctx)
	c.Place, c.Many = h.Seq, h.Seq < since || h.Seq-since > manyChanges
	if err != nil || c.Many || h.Seq == since {
		return c, err
	}
	c.Of = map[core.ApprovalID][]string{}
	_, err = readAll(ctx, s, func(scan func(...any) error) (_ struct{}, err error) {
		var id core.ApprovalID
		var account string
		err = scan(&id, &account)
		c.Of[id] = append(c.Of[id], account)
		return struct{}{}, err
	}, `select a.id, r.account from approvals a join readers r on r.approval = a.seq
		where a.id in (select approval from audit where seq > $1 and seq <= $2 and action <> $3) and r.since <= $4`,
		since, h.Seq, audit.Revealed, at)
	return c, err
}

// OpenExternal stores an approval that another agent requests, with its posts, unless there is one of its id: then it
// returns that one, and created is false. At most so many of a requester may be open at a time (rate_limited). An
// approval that the policy has decided is stored as decided.
func (s *Store) OpenExternal(
	ctx context.Context, a core.Approval, posts []core.Post, most int,
) (stored core.Approval, created bool, err error) {
	err = s.write(ctx, func(t *Tx) error {
		stored, created = core.Approval{}, false
		// so that one request of a caller comes after the other
		if err := t.lockQueues(a.Address.Platform, a.Conversation, a.Conversation.Queue()); err != nil {
			return err
		}
		if err := t.readClock(); err != nil {
			return err
		}
		known, err := t.approval(a.ID)
		if core.CategoryOf(err) != core.NotFound {
			stored = known
			return err
		}
		open := 0
		if _, err := t.Row([]any{&open}, `select count(*) from approvals where requester = $1 and state = 'open'
			and conversation = $2`, a.Requester.ID, a.Conversation); err != nil {
			return err
		}
		if open >= most && a.State == core.Open {
			return core.Errorf(core.RateLimited,
				"You have %d open requests, which is the limit. Wait for their decisions, or withdraw some.", open)
		}
		if err := t.openApproval(a); err != nil {
			return err
		}
		for _, p := range posts {
			t.addPost(p)
		}
		created = true
		stored, err = t.approval(a.ID)
		return err
	})
	return stored, created, err
}
