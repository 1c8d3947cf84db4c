package sqlstore

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"gatehouse/core"
)

// outboxWrite is a change of the outbox that is collected during a transaction and applied at its end. The other fields
// tell which rows it may change, so that their destinations can be locked first.
type outboxWrite struct {
	destination string          // of a new post
	key         string          // of a post
	approval    core.ApprovalID // of cards
	apply       func() error
}

// outboxChanges are what a transaction has collected for the outbox, and what it knows of it.
type outboxChanges struct {
	writes []outboxWrite // see writeOutbox
	// the destinations that the transaction has locked, and whether they may have changed; see lockDestinations
	destinations map[string]bool
	keysLooked   map[string]bool // whether posts with these keys exist; see askKeys
	keysAt       []string        // the destinations of those that do
	idle         map[string]bool // see isIdle
	handover     *handover       // of a Finish; nil: none
}

// addPost adds a post, or changes the post with its key, when the transaction ends.
func (t *Tx) addPost(p core.Post) {
	w := outboxWrite{key: p.Key, apply: func() error { return t.putPost(p) }}
	if !clearsWorking(p) {
		w.destination = destination(p)
	}
	t.outbox.writes = append(t.outbox.writes, w)
}

// changePost changes the post with a key when the transaction ends, unless there is none or change reports false.
func (t *Tx) changePost(key string, change func(*core.Post) bool) {
	t.outbox.writes = append(t.outbox.writes, outboxWrite{key: key, apply: func() error {
		if t.isNew(key) {
			return nil
		}
		row, found, err := t.outboxRow(key)
		if err != nil || !found {
			return err
		}
		p := row.Post
		if !change(&p) {
			return nil
		}
		return t.changeRow(row, p)
	}})
}

// buttonPressed redraws a post without its button. A missing post, or a button that was pressed before, is no error.
func (t *Tx) buttonPressed(key string) {
	t.changePost(key, func(p *core.Post) bool {
		before := p.Pressed
		p.Pressed = true
		return !before
	})
}

// buttonsPressed redraws all cards of an approval without the button to ask again.
func (t *Tx) buttonsPressed(id core.ApprovalID) {
	t.changeCards(id, func(card core.OutboxRow) error {
		if card.Pressed {
			return nil
		}
		p := card.Post
		p.Pressed = true
		return t.changeRow(card, p)
	})
}

// clearWorking clears the typing indicator of an event.
func (t *Tx) clearWorking(event int64) {
	t.changePost(workingKey(event), func(p *core.Post) bool {
		before := p.On
		p.On = false
		return before
	})
}

// workingKey is the key of the typing indicator of an event.
func workingKey(event int64) string { return "working/" + strconv.FormatInt(event, 10) }

// changeCards changes every card of an approval when the transaction ends. The cards are locked. One that can't be read
// stays as it is.
func (t *Tx) changeCards(id core.ApprovalID, change func(core.OutboxRow) error) {
	t.outbox.writes = append(t.outbox.writes, outboxWrite{approval: id, apply: func() error {
		type legible struct {
			core.OutboxRow
			fault error
		}
		cards, err := List(t, func(scan func(...any) error) (card legible, err error) {
			card.OutboxRow, err = readOutbox(lenient(scan, &card.fault))
			return card, err
		}, `select `+outboxColumns+` from outbox where approval = $1 and approval <> ''
			and kind = 'card' order by seq`+t.sql.forUpdate(), id)
		if err != nil {
			return err
		}
		for _, card := range cards {
			if card.fault != nil {
				continue
			}
			if err := change(card.OutboxRow); err != nil {
				return err
			}
		}
		return nil
	}})
}

// redrawCards makes every card of an approval show its present state.
func (t *Tx) redrawCards(id core.ApprovalID) { t.changeCards(id, t.raiseWanted) }

// pressShown is how long a platform may take to show what a press was answered with, such as the card without its
// buttons.
const pressShown = time.Second

// redrawAfterPress is redrawCards once the platform has shown the answer to a press: otherwise that could replace what
// is drawn here.
func (t *Tx) redrawAfterPress(id core.ApprovalID) {
	t.changeCards(id, func(card core.OutboxRow) error {
		if err := t.raiseWanted(card); err != nil {
			return err
		}
		_, err := t.Exec(`update outbox set next_at = $1, delay = $2 where seq = $3 and state = 'waiting'
			and owner = ''`, t.delayed(pressShown), pressShown, card.Seq)
		return err
	})
}

// redrawRun makes the cards of an approval show what became of its call. A card that could not be delivered is left
// alone: the decision has had it tried again.
func (t *Tx) redrawRun(id core.ApprovalID) {
	t.outbox.writes = append(t.outbox.writes, outboxWrite{approval: id, apply: func() error {
		changed, err := t.Texts(`
			update outbox set wanted = wanted + 1, next_at = case when state = 'sent' then 0
				else next_at end, state = 'waiting'
			where approval = $1 and approval <> '' and kind = 'card' and state in ('sent', 'waiting')
			returning destination`, id)
		if err != nil {
			return err
		}
		return t.lockDestinations(changed...)
	}})
}

// cardPressed records that a card exists, even if the result of its send is unknown, and redraws it in its present
// state. by is the process that found out.
func (t *Tx) cardPressed(c core.PressedCard, by string) {
	t.changeCards(c.Approval, func(card core.OutboxRow) error {
		if !c.Matches(card) {
			return nil
		}
		if err := t.lockDestinations(destination(card.Post)); err != nil {
			return err
		}
		_, err := t.Exec(`update outbox set parts = $1, shown = 0, state = 'waiting', next_at = 0
			where seq = $2`, asJSON{[]core.Part{{Ref: c.Ref}}}, card.Seq)
		if err != nil {
			return err
		}
		return t.arrived(card, by)
	})
}

// writeOutbox applies the collected changes at the end of the transaction. All destinations are then known, and are
// locked at once. After that the transaction takes no lock of a queue or an approval. Each destination that has changed
// is updated once.
func (t *Tx) writeOutbox() error {
	if err := t.lockCollected(); err != nil {
		return err
	}
	if !t.sql.RowLocks || len(t.outbox.destinations) > 0 { // otherwise there is nothing to change
		for _, w := range t.outbox.writes {
			if err := w.apply(); err != nil {
				return err
			}
		}
	}
	for _, d := range slices.Sorted(maps.Keys(t.outbox.destinations)) {
		if !t.outbox.destinations[d] {
			continue
		}
		if err := t.updateDestination(d); err != nil {
			return err
		}
	}
	return nil
}

// lockCollected locks all destinations of the collected changes: the new ones, and those where posts of the same keys
// are now.
func (t *Tx) lockCollected() error {
	if !t.sql.RowLocks {
		return nil
	}
	var names, keys []string
	var approvals []core.ApprovalID
	for _, w := range t.outbox.writes {
		if w.destination != "" {
			names = append(names, w.destination)
		}
		if w.key != "" {
			keys = append(keys, w.key)
		}
		if w.approval != "" {
			approvals = append(approvals, w.approval)
		}
	}
	asked, err := t.askKeys(keys)
	if err != nil {
		return err
	}
	if asked {
		if err := t.flush(); err != nil {
			return err
		}
	}
	byApproval, err := destinationsOf(t, "approval", approvals, ` and approval <> '' and kind = 'card'`)
	if err != nil {
		return err
	}
	return t.lockUnchanged(slices.Concat(names, t.outbox.keysAt, byApproval))
}

// askKeys finds out which keys exist, and the destinations of their posts: keysLooked and keysAt, not before flush.
// Each key is looked up once; asked is false if all were.
func (t *Tx) askKeys(keys []string) (asked bool, err error) {
	if t.outbox.keysLooked == nil {
		t.outbox.keysLooked = map[string]bool{}
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		_, looked := t.outbox.keysLooked[key]
		return looked
	})
	if len(keys) == 0 {
		return false, nil
	}
	for _, key := range keys {
		t.outbox.keysLooked[key] = false
	}
	var c conditions
	in(&c, "key", keys)
	return true,
		t.askEach(`select key, destination from outbox where `+c.parts[0], c.args, func(scan func(...any) error) error {
			var key, destination string
			err := scan(&key, &destination)
			t.outbox.keysLooked[key] = true
			t.outbox.keysAt = append(t.outbox.keysAt, destination)
			return err
		})
}

// isNew reports whether a post with the key was missing when the transaction looked.
func (t *Tx) isNew(key string) bool {
	exists, looked := t.outbox.keysLooked[key]
	return looked && !exists
}

// destinationsOf returns the destinations of rows that have one of the values in the column.
func destinationsOf[T ~string](t *Tx, column string, values []T, more string) ([]string, error) {
	if len(values) == 0 {
		return nil, nil
	}
	var c conditions
	in(&c, column, values)
	return t.Texts(`select destination from outbox where `+c.parts[0]+more, c.args...)
}

// clearsWorking reports whether the post clears a typing indicator.
func clearsWorking(p core.Post) bool { return p.Kind == core.PostWorking && !p.On }

// putPost adds a post, or changes the post with its key. A typing indicator that ends before it was sent is not sent at
// all.
//
// If another transaction adds the same key at this moment, the insert fails; the engine runs the transaction again,
// which finds the post.
func (t *Tx) putPost(p core.Post) error {
	if !t.sql.RowLocks || t.isNew(p.Key) {
		if done, err := t.handOver(p); err != nil || done {
			return err
		}
	}
	if !t.isNew(p.Key) {
		old, found, err := t.outboxRow(p.Key)
		if err != nil {
			return err
		}
		if found {
			return t.changeRow(old, p)
		}
	}
	if clearsWorking(p) {
		return nil
	}
	if err := t.lockDestinations(destination(p)); err != nil {
		return err
	}
	if t.outbox.keysLooked != nil {
		t.outbox.keysLooked[p.Key] = true
	}
	return t.Do(insertPost, p.Key, destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p},
		partsJSON(nil), "", 0, t.Now)
}

// putUnknown adds posts. Those with a known key are not changed.
func (t *Tx) putUnknown(posts []core.Post) error {
	for _, p := range posts {
		known, err := t.exists(`select 1 from outbox where key = $1`, p.Key)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if err := t.putPost(p); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) changeRow(old core.OutboxRow, p core.Post) error {
	if err := t.lockDestinations(destination(old.Post)); err != nil {
		return err
	}
	if clearsWorking(p) && !old.On {
		return nil
	}
	if err := t.lockDestinations(destination(p)); err != nil {
		return err
	}
	if _, err := t.Exec(`update outbox set destination = $1, platform = $2, conversation = $3, kind = $4, approval = $5,
		post = $6 where seq = $7`,
		destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, old.Seq); err != nil {
		return err
	}
	if clearsWorking(p) && old.Fence == 0 {
		_, err := t.Exec(`update outbox set wanted = wanted + 1, shown = wanted + 1, state = 'sent', sent_at = $1
			where seq = $2`, t.Now, old.Seq)
		return err
	}
	return t.raiseWanted(old)
}

// raiseWanted raises a row's wanted version. A sent post is due again, as an edit. An unknown or dead post is due only
// if it can be edited, since a new send could duplicate it.
func (t *Tx) raiseWanted(row core.OutboxRow) error {
	if err := t.lockDestinations(destination(row.Post)); err != nil {
		return err
	}
	if row.State == core.RowSent || row.State != core.RowWaiting && editable(row.Parts) {
		_, err := t.Exec(`update outbox set wanted = wanted + 1, state = 'waiting', next_at = 0
			where seq = $1`, row.Seq)
		return err
	}
	_, err := t.Exec(`update outbox set wanted = wanted + 1 where seq = $1`, row.Seq)
	return err
}

func editable(parts []core.Part) bool {
	return len(parts) == 1 && parts[0].Ref != "" && !parts[0].InDoubt
}
