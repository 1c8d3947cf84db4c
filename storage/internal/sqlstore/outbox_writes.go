package sqlstore

import (
	"maps"
	"slices"
	"strconv"

	"gatehouse/core"
)

// outboxWrite is one change of the outbox: a post, an approval's cards to redraw, a card that was pressed, a post with a pressed
// button, or an event's typing indicator to clear.
type outboxWrite struct {
	post   *core.Post
	cards  core.ApprovalID
	card   *core.PressedCard
	button string
	event  int64
}

// addPost adds a post, or changes the post with its key, when the transaction ends.
func (t *Tx) addPost(p core.Post) { t.outbox = append(t.outbox, outboxWrite{post: &p}) }

// redrawCards makes every card of an approval show its present state.
func (t *Tx) redrawCards(id core.ApprovalID) {
	if id != "" {
		t.outbox = append(t.outbox, outboxWrite{cards: id})
	}
}

// cardPressed records that a card exists, even if the result of its send is unknown.
func (t *Tx) cardPressed(c core.PressedCard) { t.outbox = append(t.outbox, outboxWrite{card: &c}) }

// buttonPressed redraws a post without its button. A missing post, or a button that was pressed before, is no error.
func (t *Tx) buttonPressed(key string) { t.outbox = append(t.outbox, outboxWrite{button: key}) }

// clearWorking clears the typing indicator of an event.
func (t *Tx) clearWorking(event int64) { t.outbox = append(t.outbox, outboxWrite{event: event}) }

// writeOutbox writes the collected changes at the end of the transaction. All destinations are then known, and are locked at once,
// in the order of their names. After that the transaction takes no lock of a queue or an approval.
func (t *Tx) writeOutbox() error {
	if len(t.outbox) == 0 {
		return nil
	}
	touched, err := t.destinationsToLock()
	if err != nil || t.hooks.RowLocks && len(touched) == 0 { // nothing to change
		return err
	}
	return t.withDestinations(touched, func(w *outboxWriter) error {
		for _, one := range t.outbox {
			if err := w.write(one); err != nil {
				return err
			}
		}
		return nil
	})
}

// withDestinations locks the destinations, runs do, and updates the destinations.
func (t *Tx) withDestinations(touched map[string]bool, do func(*outboxWriter) error) error {
	if len(touched) > 0 {
		if err := t.lockDestinations(slices.Sorted(maps.Keys(touched))); err != nil {
			return err
		}
	}
	if err := do(&outboxWriter{Tx: t, touched: touched}); err != nil {
		return err
	}
	for _, d := range slices.Sorted(maps.Keys(touched)) {
		if err := t.updateDestination(d); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) lockDestinations(all []string) error {
	if !t.hooks.RowLocks {
		return nil
	}
	return t.hooks.LockDestinations(t, all)
}

// destinationsToLock returns all destinations of the collected changes: the new ones, and those where posts of the same keys are
// now.
func (t *Tx) destinationsToLock() (map[string]bool, error) {
	all := map[string]bool{}
	if !t.hooks.RowLocks {
		return all, nil
	}
	var keys []string
	var approvals []core.ApprovalID
	for _, w := range t.outbox {
		switch {
		case w.post != nil:
			if !clearsWorking(*w.post) {
				all[destination(*w.post)] = true
			}
			keys = append(keys, w.post.Key)
		case w.cards != "":
			approvals = append(approvals, w.cards)
		case w.card != nil:
			approvals = append(approvals, w.card.Approval)
		case w.button != "":
			keys = append(keys, w.button)
		default:
			keys = append(keys, workingKey(w.event))
		}
	}
	if err := addDestinations(t, all, "key", keys, ""); err != nil {
		return nil, err
	}
	return all, addDestinations(t, all, "approval", approvals, ` and approval <> '' and kind = 'card'`)
}

// addDestinations adds the destinations of rows that have one of the values in the column.
func addDestinations[T ~string](t *Tx, all map[string]bool, column string, values []T, more string) error {
	if len(values) == 0 {
		return nil
	}
	var c conditions
	in(&c, column, values)
	found, err := t.Texts(`select destination from outbox where `+c.parts[0]+more, c.args...)
	for _, d := range found {
		all[d] = true
	}
	return err
}

// clearsWorking reports whether the post clears a typing indicator.
func clearsWorking(p core.Post) bool { return p.Kind == core.PostWorking && !p.On }

func workingKey(event int64) string { return "working/" + strconv.FormatInt(event, 10) }

// outboxWriter writes a transaction's outbox changes. touched are the destinations that it changes and has locked.
type outboxWriter struct {
	*Tx
	touched map[string]bool
}

func (w *outboxWriter) write(one outboxWrite) error {
	switch {
	case one.post != nil:
		return w.put(*one.post)
	case one.cards != "":
		return w.redraw(one.cards)
	case one.card != nil:
		return w.pressed(*one.card)
	case one.button != "":
		row, found, err := w.outboxRow(one.button)
		if err != nil || !found || row.Pressed {
			return err
		}
		row.Pressed = true
		return w.change(row, row.Post)
	}
	row, found, err := w.outboxRow(workingKey(one.event))
	if err != nil || !found || !row.On {
		return err
	}
	cleared := row.Post
	cleared.On = false
	return w.change(row, cleared)
}

// touch locks a destination unless it is locked already. A post that moved after destinationsToLock is locked late.
func (w *outboxWriter) touch(d string) error {
	if w.touched[d] {
		return nil
	}
	w.touched[d] = true
	return w.lockDestinations([]string{d})
}

// put adds a post, or changes the post with its key. A typing indicator that ends before it was sent is not sent at all.
func (w *outboxWriter) put(p core.Post) error {
	old, found, err := w.outboxRow(p.Key)
	if err != nil {
		return err
	}
	if !found {
		if clearsWorking(p) {
			return nil
		}
		if err := w.touch(destination(p)); err != nil {
			return err
		}
		n, err := w.Exec(`
			insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts, attempts, next_at, cause, created_at)
			values ($1, $2, $3, $4, $5, $6, $7, 'waiting', 1, 0, '[]', 0, $8, '', $8)
			on conflict (key) do nothing`,
			p.Key, destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, w.Now)
		if err != nil || n == 1 {
			return err
		}
		if old, _, err = w.outboxRow(p.Key); err != nil { // another transaction has just added it
			return err
		}
	}
	return w.change(old, p)
}

func (w *outboxWriter) change(old core.OutboxRow, p core.Post) error {
	if err := w.touch(destination(old.Post)); err != nil {
		return err
	}
	if clearsWorking(p) && !old.On {
		return nil
	}
	if err := w.touch(destination(p)); err != nil {
		return err
	}
	if _, err := w.Exec(`update outbox set destination = $1, platform = $2, conversation = $3, kind = $4, approval = $5, post = $6 where seq = $7`,
		destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, old.Seq); err != nil {
		return err
	}
	if clearsWorking(p) && old.Fence == 0 {
		_, err := w.Exec(`update outbox set wanted = wanted + 1, shown = wanted + 1, state = 'sent', sent_at = $1 where seq = $2`, w.Now, old.Seq)
		return err
	}
	return w.raiseWanted(old)
}

// cards locks and reads an approval's cards.
func (w *outboxWriter) cards(id core.ApprovalID) ([]core.OutboxRow, error) {
	return List(w.Tx, readOutbox, `select `+outboxColumns+` from outbox where approval = $1 and approval <> '' and kind = 'card' order by seq`+w.forUpdate(), id)
}

// pressed resolves the doubt about a card that was pressed, and redraws it in its present state.
func (w *outboxWriter) pressed(c core.PressedCard) error {
	cards, err := w.cards(c.Approval)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if !c.Matches(card) {
			continue
		}
		if err := w.touch(destination(card.Post)); err != nil {
			return err
		}
		if _, err := w.Exec(`update outbox set parts = $1, shown = 0, state = 'waiting', next_at = $2 where seq = $3`,
			asJSON{[]core.Part{{Ref: c.Ref}}}, w.Now, card.Seq); err != nil {
			return err
		}
	}
	return nil
}

func (w *outboxWriter) redraw(id core.ApprovalID) error {
	cards, err := w.cards(id)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if err := w.touch(destination(card.Post)); err != nil {
			return err
		}
		if err := w.raiseWanted(card); err != nil {
			return err
		}
	}
	return nil
}

// raiseWanted raises a row's wanted version. A sent post is due again, as an edit. An unknown or dead post is due only if it can be
// edited, since a new send could duplicate it.
func (w *outboxWriter) raiseWanted(row core.OutboxRow) error {
	if row.State == core.RowSent || row.State != core.RowWaiting && editable(row.Parts) {
		_, err := w.Exec(`update outbox set wanted = wanted + 1, state = 'waiting', next_at = $1 where seq = $2`, w.Now, row.Seq)
		return err
	}
	_, err := w.Exec(`update outbox set wanted = wanted + 1 where seq = $1`, row.Seq)
	return err
}
