// Package fill makes large databases out of small ones: it copies the rows of a conversation, by SQL, as often as is
// needed.
package fill

import (
	"context"
	"database/sql"
	"errors"

	"gatehouse/storage/sqlite"
)

// File is a database that is filled. No gatehouse uses it meanwhile.
type File struct{ db *sql.DB }

// Open opens a database of gatehouse to fill it. What is written is not synchronized: it would not outlive a crash of
// the machine.
func Open(ctx context.Context, file string) (*File, error) {
	f := &File{db: sql.OpenDB(sqlite.Writing(file))}
	f.db.SetMaxOpenConns(1) // so that the pragmas are those of every transaction
	for _, pragma := range []string{"pragma synchronous = off", "pragma foreign_keys = off"} {
		if _, err := f.db.ExecContext(ctx, pragma); err != nil {
			return nil, errors.Join(err, f.db.Close())
		}
	}
	return f, nil
}

// Close moves everything that was written into the file, and closes it.
func (f *File) Close() error {
	_, err := f.db.Exec("pragma wal_checkpoint(truncate)")
	return errors.Join(err, f.db.Close())
}

// Size is the size of the database in bytes.
func (f *File) Size(ctx context.Context) (size int64, err error) {
	err = f.db.QueryRowContext(ctx,
		"select page_count * page_size from pragma_page_count, pragma_page_size").Scan(&size)
	return size, err
}

// History makes the history of a session as long as it should be, with copies of its first message.
func (f *File) History(ctx context.Context, session string, messages int) error {
	return f.within(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			with recursive n(i) as (select (select next_pos from sessions where id = :session) union all select i + 1 from n where i + 1 < :end)
			insert into messages (session, invocation, n, pos, body)
			select :session, 'copied', i, i, (select body from messages where session = :session order by pos limit 1) from n where i < :end`,
			sql.Named("session", session), sql.Named("end", messages))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			update sessions set messages = (select count(*) from messages where session = :session), next_pos = (select max(pos) + 1 from messages where session = :session)
			where id = :session`, sql.Named("session", session))
		return err
	})
}

func (f *File) within(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
