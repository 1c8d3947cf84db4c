package postgres

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Translate is for the table of codes.
var Translate = translate

// ErrUnknown is for the same.
var ErrUnknown = errUnknown

// Ask runs a query that gives one text inside a transaction that may write.
func (s *Store) Ask(ctx context.Context, query string) (answer string, err error) {
	err = s.write(ctx, func(t *tx) error {
		_, err := t.row([]any{&answer}, query)
		return err
	})
	return answer, err
}

// Pool is for looking at the connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
