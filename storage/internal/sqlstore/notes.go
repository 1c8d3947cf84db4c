package sqlstore

import "context"

// The table of the demo's note tool.

// AddNote writes a note; repeating it writes a second one.
func (s *Store) AddNote(ctx context.Context, owner, text string) error {
	return s.write(ctx, func(t *Tx) error {
		_, err := t.Exec(`insert into notes (owner, text) values ($1, $2)`, owner, free(text))
		return err
	})
}

// Notes returns an owner's notes, the oldest first.
func (s *Store) Notes(ctx context.Context, owner string) ([]string, error) {
	return read(ctx, s, func(t *Tx) ([]string, error) {
		return t.Texts(`select text from notes where owner = $1 order by seq`, owner)
	})
}
