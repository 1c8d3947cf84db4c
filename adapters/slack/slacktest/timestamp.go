package slacktest

import (
	"fmt"
	"strconv"
	"strings"
)

// newTS is the next message timestamp: seconds and six digits, unique and rising even if the clock stands. The caller holds the lock.
func (s *Server) newTS() string {
	micros := s.o.Now().UnixMicro() / 100 * 100
	if micros <= s.lastTS {
		micros = s.lastTS + 100
	}
	s.lastTS = micros
	return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
}

// tsMicros reads a timestamp back; what is none counts as 0.
func tsMicros(ts string) int64 {
	seconds, rest, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	micros, _ := strconv.ParseInt((rest + "000000")[:6], 10, 64)
	return sec*1e6 + micros
}
