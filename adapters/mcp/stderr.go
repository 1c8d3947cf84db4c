package mcp

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"sync"

	"golang.org/x/time/rate"

	"gatehouse/adapters/mcp/internal/schema"
	"gatehouse/core/mask"
)

const maxSaid = 1 << 10 // bytes of a line of standard error that are kept

// stderr takes what a process writes to its standard error: to the log, at level debug since it may hold what people
// wrote, with secrets masked, and not more than some lines a second. The last line is kept: it mostly says why a
// process died.
type stderr struct {
	log    *slog.Logger
	masker schema.Masker
	limit  *rate.Limiter

	mu   sync.Mutex
	line string
}

func newStderr(log *slog.Logger, masker schema.Masker) *stderr {
	return &stderr{log: log, masker: masker, limit: rate.NewLimiter(10, 100)}
}

// copy reads until the end.
func (s *stderr) copy(from io.Reader) {
	in := bufio.NewReaderSize(from, 64*maxSaid)
	for unsaid, inside := 0, false; ; {
		// what is longer than the buffer comes in parts: the first is kept, and cut far before its end
		part, err := in.ReadSlice('\n')
		text := bytes.TrimSpace(part)
		first := !inside
		inside = len(part) > 0 && part[len(part)-1] != '\n'
		if len(text) > 0 && first {
			line := s.keep(text)
			if s.limit.Allow() {
				s.log.Debug("said by the MCP server", "said", line, "unsaid", unsaid)
				unsaid = 0
			} else {
				unsaid++
			}
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // ReadSlice does not wrap it
			return
		}
	}
}

// keep keeps a line, as it may be shown.
func (s *stderr) keep(text []byte) string {
	line := cut(s.masker.Hide(string(text)), maxSaid) // in this order: half a secret is not recognised
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = line
	return line
}

// last gives the last line.
func (s *stderr) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// cut shortens a foreign text to some bytes, at a character, with a note that it did; and shows what is invisible in
// it.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return mask.Escape(text)
	}
	for limit > 0 && text[limit]&0xC0 == 0x80 {
		limit--
	}
	return mask.Escape(text[:limit]) + " … (cut)"
}
