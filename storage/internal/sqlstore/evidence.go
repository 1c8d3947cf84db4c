package sqlstore

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// LoadEvidence returns what an invocation did; nil, nil if nothing is stored.
func (s *Store) LoadEvidence(ctx context.Context, id core.InvocationID) (json.RawMessage, error) {
	var body string
	var found bool
	err := s.read(ctx, func(t *Tx) (err error) {
		found, err = t.Row([]any{&body}, `select body from evidence where invocation = $1`, id)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	return json.RawMessage(body), nil
}

// storeEvidence stores what the turn's invocation did; a later segment replaces it.
func (t *Tx) storeEvidence(e core.EventRecord, session core.SessionID, evidence json.RawMessage) error {
	_, err := t.Exec(`
		insert into evidence (invocation, session, body, at) values ($1, $2, $3, $4)
		on conflict (invocation) do update set session = excluded.session, body = excluded.body, at = excluded.at`,
		e.Invocation, session, free(evidence), t.Now)
	return err
}
