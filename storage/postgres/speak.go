package postgres

import (
	"maps"
	"slices"
	"strconv"

	"gatehouse/core"
)

// utterance is something for the outbox: a post, an approval's cards to draw anew, a card that was seen, a post whose button was
// pressed, or an event's working state to put out.
type utterance struct {
	post    *core.Post
	cards   core.ApprovalID
	seen    *core.PressedCard
	pressed string
	event   int64
}

// say notes a post.
func (t *tx) say(p core.Post) { t.speech = append(t.speech, utterance{post: &p}) }

// redraw notes that every card of an approval is to show how it stands now.
func (t *tx) redraw(id core.ApprovalID) {
	if id != "" {
		t.speech = append(t.speech, utterance{cards: id})
	}
}

// see notes that a card is there, whatever became of the answer to its send.
func (t *tx) see(s core.PressedCard) { t.speech = append(t.speech, utterance{seen: &s}) }

// press notes that a post is to be drawn without its button. One that is not there, or was pressed before, is no error.
func (t *tx) press(key string) { t.speech = append(t.speech, utterance{pressed: key}) }

// putOut notes that the working state of an event is over.
func (t *tx) putOut(event int64) { t.speech = append(t.speech, utterance{event: event}) }

// speak writes what was noted, near the transaction's end: so all destinations are known, and their locks are taken at once, in
// the order of their names. Whoever holds them waits for no conversation and no approval any more.
func (t *tx) speak() error {
	if len(t.speech) == 0 {
		return nil
	}
	touched, err := t.destinations()
	if err != nil {
		return err
	}
	return t.to(touched, func(s *speaker) error {
		for _, u := range t.speech {
			if err := s.utter(u); err != nil {
				return err
			}
		}
		return nil
	})
}

// to runs do with the locks of destinations in hand, and sets when they have something to deliver after that.
func (t *tx) to(touched map[string]bool, do func(*speaker) error) error {
	if len(touched) == 0 {
		return nil
	}
	if err := t.places(touched); err != nil {
		return err
	}
	if err := do(&speaker{tx: t, touched: touched}); err != nil {
		return err
	}
	for _, d := range slices.Sorted(maps.Keys(touched)) {
		if err := t.due(d); err != nil {
			return err
		}
	}
	return nil
}

// destinations are all that the speech goes to: where posts will stand, and where those of their keys stand now.
func (t *tx) destinations() (map[string]bool, error) {
	all := map[string]bool{}
	var keys, approvals []string
	for _, u := range t.speech {
		switch {
		case u.post != nil:
			if !out(*u.post) {
				all[destination(*u.post)] = true
			}
			keys = append(keys, u.post.Key)
		case u.cards != "":
			approvals = append(approvals, string(u.cards))
		case u.seen != nil:
			approvals = append(approvals, string(u.seen.Approval))
		case u.pressed != "":
			keys = append(keys, u.pressed)
		default:
			keys = append(keys, workingKey(u.event))
		}
	}
	if len(keys) > 0 {
		found, err := t.texts(`select destination from outbox where key = any($1::text[])`, keys)
		if err != nil {
			return nil, err
		}
		add(all, found)
	}
	if len(approvals) > 0 {
		found, err := t.texts(`select destination from outbox where approval = any($1::text[]) and approval <> '' and kind = 'card'`, approvals)
		if err != nil {
			return nil, err
		}
		add(all, found)
	}
	return all, nil
}

func add(all map[string]bool, found []string) {
	for _, d := range found {
		all[d] = true
	}
}

// places takes the locks of destinations, which are made where there are none, and reads the clock after that.
func (t *tx) places(all map[string]bool) error {
	_, err := t.row([]any{stamp{&t.now}}, `
		insert into destinations (destination) select d from unnest($1::text[]) with ordinality as wanted (d, n) order by n
		on conflict (destination) do update set conversation = destinations.conversation
		returning clock_timestamp()`, slices.Sorted(maps.Keys(all)))
	return err
}

// out reports whether the post puts a working state out.
func out(p core.Post) bool { return p.Kind == core.PostWorking && !p.On }

func workingKey(event int64) string { return "working/" + strconv.FormatInt(event, 10) }

// speaker writes a transaction's speech; touched are the destinations whose locks it has.
type speaker struct {
	*tx
	touched map[string]bool
}

func (s *speaker) utter(u utterance) error {
	switch {
	case u.post != nil:
		return s.add(*u.post)
	case u.cards != "":
		return s.draw(u.cards)
	case u.seen != nil:
		return s.sight(*u.seen)
	case u.pressed != "":
		row, found, err := s.outboxRow(u.pressed)
		if err != nil || !found || row.Pressed {
			return err
		}
		row.Pressed = true
		return s.add(row.Post)
	}
	row, found, err := s.outboxRow(workingKey(u.event))
	if err != nil || !found || !row.On {
		return err
	}
	row.On = false
	return s.add(row.Post)
}

// at makes sure of a destination's lock. A post that was moved since the look at the beginning has its lock taken late.
func (s *speaker) at(d string) error {
	if s.touched[d] {
		return nil
	}
	s.touched[d] = true
	return s.places(map[string]bool{d: true})
}

// add adds a post, or changes the one of its key. A working state that goes out before anybody saw it is done without a word.
func (s *speaker) add(p core.Post) error {
	old, found, err := s.outboxRow(p.Key)
	if err != nil {
		return err
	}
	if !found {
		if out(p) {
			return nil
		}
		n, err := s.exec(`
			insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts, attempts, next_at, cause, created_at)
			values ($1, $2, $3, $4, $5, $6, $7, 'waiting', 1, 0, '[]', 0, $8::timestamptz, '', $8::timestamptz)
			on conflict (key) do nothing`,
			p.Key, destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, s.now)
		if err != nil || n == 1 {
			return err
		}
		if old, _, err = s.outboxRow(p.Key); err != nil { // another transaction has just added it
			return err
		}
	}
	return s.change(old, p)
}

func (s *speaker) change(old core.OutboxRow, p core.Post) error {
	if err := s.at(destination(old.Post)); err != nil {
		return err
	}
	if out(p) && !old.On {
		return nil
	}
	if err := s.at(destination(p)); err != nil {
		return err
	}
	if _, err := s.exec(`update outbox set destination = $1, platform = $2, conversation = $3, kind = $4, approval = $5, post = $6 where seq = $7`,
		destination(p), p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, old.Seq); err != nil {
		return err
	}
	if out(p) && old.Fence == 0 {
		_, err := s.exec(`update outbox set wanted = wanted + 1, shown = wanted + 1, state = 'sent', sent_at = $1 where seq = $2`, s.now, old.Seq)
		return err
	}
	return s.want(old)
}

// cards reads an approval's cards, and takes their locks.
func (s *speaker) cards(id core.ApprovalID) ([]core.OutboxRow, error) {
	return list(s.tx, readOutbox, `select `+outboxColumns+` from outbox where approval = $1 and approval <> '' and kind = 'card' order by seq for update`, id)
}

// sight ends the doubt about a card that was pressed, and has it drawn as it stands now.
func (s *speaker) sight(seen core.PressedCard) error {
	cards, err := s.cards(seen.Approval)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if !seen.Matches(card) {
			continue
		}
		if err := s.at(destination(card.Post)); err != nil {
			return err
		}
		if _, err := s.exec(`update outbox set parts = $1, shown = 0, state = 'waiting', next_at = $2 where seq = $3`,
			asJSON{[]core.Part{{Ref: seen.Ref}}}, s.now, card.Seq); err != nil {
			return err
		}
	}
	return nil
}

func (s *speaker) draw(id core.ApprovalID) error {
	cards, err := s.cards(id)
	if err != nil {
		return err
	}
	for _, card := range cards {
		if err := s.at(destination(card.Post)); err != nil {
			return err
		}
		if err := s.want(card); err != nil {
			return err
		}
	}
	return nil
}

// want raises a row's wanted version. What was sent is due again, as an edit; what is unknown or dead only where an edit can be
// made of it, since a new send could double it.
func (s *speaker) want(row core.OutboxRow) error {
	if row.State == core.RowSent || row.State != core.RowWaiting && editable(row.Parts) {
		_, err := s.exec(`update outbox set wanted = wanted + 1, state = 'waiting', next_at = $1 where seq = $2`, s.now, row.Seq)
		return err
	}
	_, err := s.exec(`update outbox set wanted = wanted + 1 where seq = $1`, row.Seq)
	return err
}
