package postgres

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// LoadEvidence reads what an invocation did.
func (s *Store) LoadEvidence(ctx context.Context, id core.InvocationID) (json.RawMessage, error) {
	var body string
	var found bool
	err := s.read(ctx, func(t *tx) (err error) {
		found, err = t.row([]any{&body}, `select body from evidence where invocation = $1`, id)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	return json.RawMessage(body), nil
}

// testify keeps what the turn's invocation did.
func (t *tx) testify(e core.EventRecord, session core.SessionID, evidence json.RawMessage) error {
	_, err := t.exec(`
		insert into evidence (invocation, session, body, at) values ($1, $2, $3, $4)
		on conflict (invocation) do update set session = excluded.session, body = excluded.body, at = excluded.at`,
		e.Invocation, session, free(evidence), t.now)
	return err
}
