package sqlite

import "context"

// Translate is for the table of codes.
var Translate = translate

// Unit runs statements as one unit of the writer.
func (s *Store) Unit(ctx context.Context, do func(exec func(query string, args ...any) error) error) error {
	return s.write(ctx, func(t *tx) error {
		return do(func(query string, args ...any) error {
			_, err := t.exec(query, args...)
			return err
		})
	})
}

// Waiting is how many units wait for the writer.
func (s *Store) Waiting() int {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	return len(s.writer.queue)
}
