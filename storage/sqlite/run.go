package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"gatehouse/storage/internal/sqlstore"
)

// runner runs SQL by the methods of a connection or a transaction. The driver caches each connection's prepared statements by their
// text.
func runner(ctx context.Context,
	exec func(context.Context, string, ...any) (sql.Result, error),
	query func(context.Context, string, ...any) (*sql.Rows, error),
) sqlstore.Runner {
	return sqlstore.Runner{
		Exec: func(text string, args []any) (int64, error) {
			r, err := exec(ctx, text, args...)
			if err != nil {
				return 0, err
			}
			return r.RowsAffected()
		},
		Query: func(text string, args []any, row func(scan func(...any) error) error) (err error) {
			rows, err := query(ctx, text, args...)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, rows.Close()) }()
			for rows.Next() {
				if err := row(rows.Scan); err != nil {
					return err
				}
			}
			return rows.Err()
		},
	}
}
