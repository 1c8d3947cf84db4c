package sqlite

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Say puts posts into the outbox while a turn runs.
func (s *Store) AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error {
	return s.fenced(ctx, c, func(t *tx) error {
		for _, p := range posts {
			if err := t.say(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// Spread puts posts beside a row that is being delivered.
func (s *Store) AddCopies(ctx context.Context, row core.OutboxRow, posts []core.Post) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.savePost(row); err != nil {
			return err
		}
		for _, p := range posts {
			if _, known, err := t.outboxRow(p.Key); err != nil {
				return err
			} else if known {
				continue
			}
			if err := t.say(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// destination is where posts keep their order. Working states have one of their own: they neither wait for an answer nor hold it
// up.
func destination(p core.Post) string {
	parts := []string{p.To.Platform, p.To.Channel, p.To.Thread}
	if p.Kind == core.PostWorking {
		parts = append(parts, string(core.PostWorking))
	}
	return strings.Join(parts, "\x1f")
}

// say adds a post, or changes the one of its key. A working state that goes out before anybody saw it is done without a word.
func (t *tx) say(p core.Post) error {
	old, found, err := t.outboxRow(p.Key)
	if err != nil {
		return err
	}
	out := p.Kind == core.PostWorking && !p.On
	if !found {
		if out {
			return nil
		}
		_, err := t.exec(`
			insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts, attempts, next_at, cause, created_at)
			values (?, ?, ?, ?, ?, ?, ?, 'waiting', 1, 0, '[]', 0, ?, '', ?)`,
			p.Key, destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, ns(t.now), ns(t.now))
		if err != nil {
			return err
		}
		return t.due(destination(p))
	}
	if out && !old.On {
		return nil
	}
	if _, err := t.exec(`update outbox set destination = ?, platform = ?, conversation = ?, kind = ?, approval = ?, post = ? where seq = ?`,
		destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, old.Seq); err != nil {
		return err
	}
	if out && old.Fence == 0 {
		if _, err := t.exec(`update outbox set wanted = wanted + 1, shown = wanted + 1, state = 'sent', sent_at = ? where seq = ?`, ns(t.now), old.Seq); err != nil {
			return err
		}
		return t.due(destination(p))
	}
	if was := destination(old.Post); was != destination(p) {
		if err := t.due(was); err != nil {
			return err
		}
	}
	return t.want(old)
}

// want raises a row's wanted version. What was sent is due again, as an edit; what is unknown or dead only where an edit can be
// made of it, since a new send could double it.
func (t *tx) want(row core.OutboxRow) error {
	if _, err := t.exec(`update outbox set wanted = wanted + 1 where seq = ?`, row.Seq); err != nil {
		return err
	}
	if row.State == core.RowSent || row.State != core.RowWaiting && editable(row.Parts) {
		if _, err := t.exec(`update outbox set state = 'waiting', next_at = ? where seq = ?`, ns(t.now), row.Seq); err != nil {
			return err
		}
	}
	var d string
	if _, err := t.row([]any{&d}, `select destination from outbox where seq = ?`, row.Seq); err != nil {
		return err
	}
	return t.due(d)
}

// see ends the doubt about a card that was pressed, and has it drawn as it stands now.
func (t *tx) see(s core.PressedCard) error {
	cards, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where approval = ? and approval <> '' and kind = 'card'`, s.Approval)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if !s.Matches(card) {
			continue
		}
		if _, err := t.exec(`update outbox set parts = ?, shown = 0, state = 'waiting', next_at = ? where seq = ?`,
			asJSON{[]core.Part{{Ref: s.Ref}}}, ns(t.now), card.Seq); err != nil {
			return err
		}
		if err := t.due(destination(card.Post)); err != nil {
			return err
		}
	}
	return nil
}

// press takes the button off a post. One that is not there, or was pressed before, is no error.
func (t *tx) press(key string) error {
	row, found, err := t.outboxRow(key)
	if err != nil || !found || row.Pressed {
		return err
	}
	row.Pressed = true
	return t.say(row.Post)
}

func editable(parts []core.Part) bool {
	return len(parts) == 1 && parts[0].Ref != "" && !parts[0].InDoubt
}

// redraw makes every card of an approval show how it stands now.
func (t *tx) redraw(id core.ApprovalID) error {
	if id == "" {
		return nil
	}
	cards, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where approval = ? and approval <> '' and kind = 'card'`, id)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if err := t.want(card); err != nil {
			return err
		}
	}
	return nil
}

// clearWorking puts out the working state of an event.
func (t *tx) clearWorking(event int64) error {
	row, found, err := t.outboxRow("working/" + strconv.FormatInt(event, 10))
	if err != nil || !found || !row.On {
		return err
	}
	row.On = false
	return t.say(row.Post)
}

// due sets when a destination has something to deliver: its first row that waits, but not before the one in flight is back.
func (t *tx) due(destination string) error {
	n, err := t.exec(`
		insert into destinations (destination, platform, conversation, ready_at)
			select destination, platform, conversation, max(next_at, coalesce((select max(lease_until) from outbox where destination = ?1 and owner <> ''), 0))
			from outbox where destination = ?1 and state = 'waiting' order by seq limit 1
		on conflict (destination) do update set platform = excluded.platform, conversation = excluded.conversation, ready_at = excluded.ready_at`, destination)
	if err == nil && n == 0 {
		_, err = t.exec(`delete from destinations where destination = ?`, destination)
	}
	return err
}

const outboxColumns = `seq, post, wanted, shown, parts, state, attempts, next_at, cause, owner, fence, created_at, sent_at`

func readOutbox(scan func(...any) error) (core.OutboxRow, error) {
	var r core.OutboxRow
	err := scan(&r.Seq, fromJSON{&r.Post}, &r.Wanted, &r.Shown, fromJSON{&r.Parts}, &r.State, &r.Attempts, stamp{&r.NextAt}, &r.Cause, &r.Owner, &r.Fence,
		stamp{&r.CreatedAt}, stamp{&r.SentAt})
	if len(r.Parts) == 0 {
		r.Parts = nil
	}
	return r, err
}

func (t *tx) outboxRow(key string) (core.OutboxRow, bool, error) {
	found, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where key = ?`, key)
	if err != nil || len(found) == 0 {
		return core.OutboxRow{}, false, err
	}
	return found[0], true, nil
}

// ListPosts reads rows along the index that fits the filter best.
func (s *Store) ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, n int) (rows []core.OutboxRow, err error) {
	var where conditions
	if slices.Equal(states, []core.RowState{core.RowWaiting}) { // asked for all the time, along an index of its own
		where.and("state = 'waiting'")
	} else {
		in(&where, "state", states)
	}
	where.is("conversation", string(conversation))
	end, args := where.sql(n)
	err = s.read(ctx, func(t *tx) error {
		rows, err = list(t, readOutbox, `select `+outboxColumns+` from outbox`+end, args...)
		return err
	})
	return rows, err
}
