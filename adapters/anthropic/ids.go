package anthropic

import (
	"strconv"
	"strings"
)

// ids gives each call of a request an id that the API takes: letters, digits, _ and -, and no id twice in a request. An
// id that is so goes verbatim. Ids of other providers may have other characters, and local models use an id again;
// those get another id, which depends only on the calls before, so that equal histories have equal ids.
type ids struct{ used map[string]bool }

func (s *ids) next(id string) string {
	if s.used == nil {
		s.used = map[string]bool{}
	}
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
	wire := clean
	for n := 2; s.used[wire]; n++ {
		wire = clean + "_" + strconv.Itoa(n)
	}
	s.used[wire] = true
	return wire
}
