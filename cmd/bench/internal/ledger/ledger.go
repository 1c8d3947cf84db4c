// Package ledger records what becomes of the events of a bench: when each was sent, acknowledged and answered, and how
// often.
//
// An event's text carries a mark, its number, and so does the reply to it. Everything else in a reply is up to the bot.
package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Ledger is the record of a number of events. Its methods may be called by several goroutines at the same time.
type Ledger struct {
	base    time.Time
	events  []event
	sent    atomic.Int64 // events
	replied atomic.Int64 // events that have a reply
	open    atomic.Int64 // events of the current span that have no reply
	first   int          // the current span
	end     int
	done    chan struct{} // closed when open is 0
}

// event is what is known of one event: times since base in nanoseconds, 0 if it did not happen.
type event struct {
	sent, acked, answered atomic.Int64
	replies               atomic.Int32
}

// New makes a ledger of n events.
func New(n int) *Ledger {
	return &Ledger{base: time.Now(), events: make([]event, n), done: make(chan struct{})}
}

// The parts of a mark: no format that a bot may send it in escapes them.
const (
	markBegin = "benchmark0"
	markEnd   = 'x'
)

// Mark is the text that identifies an event.
func Mark(n int) string { return fmt.Sprintf("%s%d%c", markBegin, n, markEnd) }

// Marked returns the event whose mark is the first one in a text; false if there is none.
func Marked(text []byte) (n int, ok bool) {
	at := bytes.Index(text, []byte(markBegin))
	if at < 0 {
		return 0, false
	}
	digits, _, ok := bytes.Cut(text[at+len(markBegin):], []byte{markEnd})
	if !ok || len(digits) > 9 {
		return 0, false
	}
	n, err := strconv.Atoi(string(digits))
	return n, err == nil
}

// Begin begins a span: Done is closed when each event from first up to, but not including, end has a reply. It is
// called while no event is under way.
func (l *Ledger) Begin(first, end int) {
	l.first, l.end, l.done = first, end, make(chan struct{})
	l.open.Store(int64(end - first))
}

// Done is closed when each event of the span has a reply.
func (l *Ledger) Done() <-chan struct{} { return l.done }

// Open is how many events of the span have no reply.
func (l *Ledger) Open() int { return int(l.open.Load()) }

// Replied is how many events have a reply, in all spans.
func (l *Ledger) Replied() int { return int(l.replied.Load()) }

// Waiting is how many events were sent and have no reply, in all spans.
func (l *Ledger) Waiting() int { return int(l.sent.Load() - l.replied.Load()) }

// Sent records that an event is sent now, or was due at another time. What happened first counts.
func (l *Ledger) Sent(n int, at time.Time) {
	if l.events[n].sent.CompareAndSwap(0, l.since(at)) {
		l.sent.Add(1)
	}
}

// Acked records that an event is acknowledged now. What happened first counts.
func (l *Ledger) Acked(n int) { l.events[n].acked.CompareAndSwap(0, l.since(time.Now())) }

// Answered records that a reply to an event came now. An unknown event is not recorded, and false is returned.
func (l *Ledger) Answered(n int) bool {
	if n < 0 || n >= len(l.events) {
		return false
	}
	e := &l.events[n]
	e.answered.CompareAndSwap(0, l.since(time.Now()))
	if e.replies.Add(1) > 1 {
		return true
	}
	l.replied.Add(1)
	if n >= l.first && n < l.end && l.open.Add(-1) == 0 {
		close(l.done)
	}
	return true
}

func (l *Ledger) since(at time.Time) int64 { return max(1, int64(at.Sub(l.base))) }

// Summary is what became of the events of a span.
type Summary struct {
	Events   int
	Lost     int // without a reply
	Doubled  int // with more than one
	Took     time.Duration
	Ack      []time.Duration // sorted: from sent to acknowledged
	EndToEnd []time.Duration // sorted: from sent to answered
}

// Summary returns what became of the events of the span.
func (l *Ledger) Summary() Summary { return l.Between(l.first, l.end) }

// Between returns what became of the events from first up to, but not including, end.
func (l *Ledger) Between(first, end int) Summary {
	s := Summary{Events: end - first}
	var begin, last int64
	for i := first; i < end; i++ {
		e := &l.events[i]
		sent, acked, answered := e.sent.Load(), e.acked.Load(), e.answered.Load()
		if sent > 0 && (begin == 0 || sent < begin) {
			begin = sent
		}
		last = max(last, answered)
		if acked > 0 {
			s.Ack = append(s.Ack, time.Duration(acked-sent))
		}
		switch n := e.replies.Load(); {
		case n == 0:
			s.Lost++
			continue
		case n > 1:
			s.Doubled++
		}
		s.EndToEnd = append(s.EndToEnd, time.Duration(answered-sent))
	}
	s.Took = time.Duration(max(0, last-begin))
	slices.Sort(s.Ack)
	slices.Sort(s.EndToEnd)
	return s
}
