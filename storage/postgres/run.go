package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gatehouse/storage/internal/sqlstore"
)

// runner runs SQL by the methods of a transaction or, for single-statement reads, of the pool.
func runner(ctx context.Context,
	exec func(context.Context, string, ...any) (pgconn.CommandTag, error),
	query func(context.Context, string, ...any) (pgx.Rows, error),
) sqlstore.Runner {
	return sqlstore.Runner{
		Exec: func(text string, args []any) (int64, error) {
			tag, err := exec(ctx, text, args...)
			return tag.RowsAffected(), err
		},
		Query: func(text string, args []any, row func(scan func(...any) error) error) error {
			rows, err := query(ctx, text, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				if err := row(rows.Scan); err != nil {
					return err
				}
			}
			rows.Close()
			return rows.Err()
		},
	}
}
