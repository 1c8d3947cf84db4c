package postgres

import (
	"context"
	"strings"

	"github.com/google/uuid"
)

// Register gives a name that nobody ever had. No database can prove that a process on another machine is dead; so what a dead one
// held comes back when its leases are over.
func (s *Store) Register(_ context.Context, instance string) (string, error) {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, instance)
	return name[:min(len(name), 60)] + "-" + uuid.NewString(), nil
}
