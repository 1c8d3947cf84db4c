package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	for account, since := range a.Rule.Readers(a.Requester.ID, a.CreatedAt) {
		if err := t.Do(`insert into readers (account, open, approval, since)
			values ($1, $2, (select seq from approvals where id = $3), $4)`, account, a.State == core.Open, a.ID,
			since); err != nil {
			return err
		}
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

// redrawSame makes the cards of the other open requests of the same call, by the same person in the same conversation,
// be drawn once more: each says which of them it is, and links to the first.
func (t *Tx) redrawSame(a core.Approval) error {
	if a.Question != nil || a.External != nil {
		return nil
	}
	// the database looks through the others' texts, so that only these are read
	open, err := List(t, readApproval, `select `+approvalColumns+` from approvals
		where requester = $1 and state = 'open' and conversation = $2 and replace(body, $3, '') <> body
		order by seq`, a.Requester.ID, a.Conversation, a.Call.Digest)
	same := slices.DeleteFunc(open, func(o core.Approval) bool { return o.Call.Digest != a.Call.Digest })
	for _, other := range same {
		if other.ID == a.ID && a.Edits() == 0 { // it is new
			continue
		}
		t.changeCards(other.ID, func(card core.OutboxRow) error {
			p := card.Post
			if p.Like == "" {
				return t.raiseWanted(card)
			}
			p.Like = same[0].CardKey() + strings.TrimPrefix(p.Key, other.CardKey())
			return t.changeRow(card, p)
		})
	}
	return err
}

// redrawMemory makes the cards of what is remembered be drawn once more after a use: they say how many are left. After
// the last one the cards of the earlier uses offer nothing to stop any more.
func (t *Tx) redrawMemory(use core.Use) error {
	t.redrawCards(use.Of)
	source, err := t.approval(use.Of)
	if core.CategoryOf(err) == core.NotFound || err == nil && use.N < use.Uses {
		return nil
	}
	if err != nil {
		return err
	}
	return t.redrawUses(source)
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
	return t.Do(`update readers set open = false where approval = (select seq from approvals where id = $1)`, a.ID)
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
	from, column, where := approvalsBy(f)
	if f.Before != "" {
		where.and(column + " < coalesce((select seq from approvals where id = " + where.arg(f.Before) + "), 0)")
	}
	return list(ctx, s, readApproval, `select `+approvalColumns+` from `+from, where, column, f.Limit)
}

// CountApprovals returns how many approvals match the filter, whatever its Before and Limit are.
func (s *Store) CountApprovals(ctx context.Context, f core.ApprovalFilter) (n int, err error) {
	from, column, where := approvalsBy(f)
	where.and(column + " > 0")
	if f.Reader != "" { // all conditions are of that table
		from = "readers"
	}
	return read(ctx, s, func(t *Tx) (n int, err error) {
		_, err = t.Row([]any{&n}, `select count(*) from `+from+` where `+where.all(), where.args...)
		return n, err
	})
}

// approvalsBy returns the tables, the column with the approvals' numbers and the conditions of a filter.
func approvalsBy(f core.ApprovalFilter) (from, column string, where conditions) {
	if f.Reader != "" {
		where.is("account", f.Reader)
		if where.and("open = true"); f.Closed {
			where.parts[len(where.parts)-1] = "open = false"
		}
		where.and("since <= " + where.arg(f.At))
		return "readers join approvals on seq = approval", "approval", where
	}
	if f.Closed {
		where.and("state <> 'open'")
	}
	if f.Requester != "" && slices.Equal(f.States, []core.ApprovalState{core.Open}) { // it has its own index
		where.and("state = 'open'")
	} else {
		in(&where, "state", f.States)
	}
	where.is("requester", f.Requester)
	where.is("session", string(f.Session))
	where.is("conversation", string(f.Conversation))
	where.is("invocation", string(f.Invocation))
	return "approvals", "seq", where
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
