package sqlstore

import (
	"gatehouse/core"
)

// handover is a core.Handover in its transaction.
type handover struct {
	core.Handover
	owner string
}

// handOver adds a post that is claimed at once, if the transaction asks for that, its key is new, and nothing waits or is in flight in its
// destination; done is false if not, and nothing has changed. The destination needs no update then: nothing can be claimed in it, as before.
func (t *Tx) handOver(p core.Post) (done bool, err error) {
	h := t.handover
	if h == nil || len(h.Rows) >= h.Limit || p.To.Platform != h.Platform || !sentAsItIs(p) {
		return false, nil
	}
	to := destination(p)
	row := core.OutboxRow{Post: p, Wanted: 1, State: core.RowWaiting, Owner: h.owner, Fence: 1, CreatedAt: t.Now, Doubted: true}
	free, err := t.Row([]any{&row.Seq}, insertPost+`
		where not exists (select 1 from outbox where destination = $2 and state = 'waiting') and not exists (select 1 from outbox where destination = $2 and owner <> '')
		on conflict (key) do nothing returning seq`,
		p.Key, to, p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, partsJSON(t.inDoubt()), row.Owner, row.Fence, t.Now)
	if err != nil || !free {
		return false, err
	}
	if t.keysLooked != nil {
		t.keysLooked[p.Key] = true
	}
	h.Rows = append(h.Rows, row)
	return true, nil
}

// insertPost adds a post whose key is new.
const insertPost = `
	insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts, attempts, next_at, cause, owner, fence, created_at)
	select $1, $2, $3, $4, $5, $6, $7, 'waiting', 1, 0, $8, 0, 0, '', $9, $10, $11`
