package slacktest

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// object is a JSON object on its way to the wire.
type object = map[string]any

// ids makes the ids of one server. They differ from those of every other server, so that an app under test that is shown a second fake
// does not take its events for known ones.
type ids struct {
	server string
	last   *atomic.Int64
}

func newIDs() ids { return ids{server: strings.ToUpper(rand.Text()[:6]), last: new(atomic.Int64)} }

// next is a new id in Slack's way: some letters of its kind, then letters and digits.
func (i ids) next(kind string) string { return fmt.Sprintf("%s%s%04X", kind, i.server, i.last.Add(1)) }

// secret is a word that can't be guessed.
func (i ids) secret() string { return strings.ToLower(rand.Text()) }

// uuid is a new id in the form of envelope ids and client_msg_ids.
func (i ids) uuid() string {
	return fmt.Sprintf("%08x-%04x-4000-8000-%s", i.last.Add(1), 0x5ac, strings.ToLower(rand.Text()[:12]))
}

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
