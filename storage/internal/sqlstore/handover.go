package sqlstore

import (
	"gatehouse/core"
)

// handover is a core.Handover in its transaction.
type handover struct {
	core.Handover
	owner string
}

// handOver adds a new post that is claimed at once, if the transaction asks for that and nothing waits or is in flight in its destination; done
// is false if not, and nothing has changed. The destination needs no update then: nothing can be claimed in it, as before.
func (t *Tx) handOver(p core.Post) (done bool, err error) {
	h := t.handover
	if h == nil || len(h.Rows) >= h.Limit || p.To.Platform != h.Platform || !sentAsItIs(p) {
		return false, nil
	}
	to := destination(p)
	busy, err := t.exists(`
		select 1 where exists (select 1 from outbox where destination = $1 and state = 'waiting') or exists (select 1 from outbox where destination = $1 and owner <> '')`, to)
	if err != nil || busy {
		return false, err
	}
	row := core.OutboxRow{Post: p, Wanted: 1, State: core.RowWaiting, Owner: h.owner, Fence: 1, CreatedAt: t.Now, Doubted: true}
	found, err := t.Row([]any{&row.Seq}, insertPost+` returning seq`,
		p.Key, to, p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, partsJSON(t.inDoubt()), row.Owner, row.Fence, t.Now)
	if err != nil || !found { // another transaction has just added it
		return false, err
	}
	h.Rows = append(h.Rows, row)
	return true, nil
}

// insertPost adds a post unless its key is known.
const insertPost = `
	insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts, attempts, next_at, cause, owner, fence, created_at)
	values ($1, $2, $3, $4, $5, $6, $7, 'waiting', 1, 0, $8, 0, 0, '', $9, $10, $11)
	on conflict (key) do nothing`
