package gateway

import (
	"fmt"
	"testing"
)

// The session passes no event that is not committed. Committed ones behind it take no place, however many there are.
func TestCommittedEventsBehindAnotherAreJoined(t *testing.T) {
	session := &sessionStore{}
	session.begin("session", "", 0, 0)
	c := &committer{shard: &shard{session: session}, waiting: map[string]openEvent{}}
	var open []openEvent
	begin := func(channel string) openEvent {
		e := openEvent{
			seq: int64(len(open) + 1), channel: channel, message: fmt.Sprint(1000 + len(open)),
			done: make(chan struct{}),
		}
		c.waiting[e.channel], c.waiting[e.message] = e, e
		open = append(open, e)
		return e
	}
	slow := begin("a")
	for i := range 100 {
		close(begin(fmt.Sprint("b", i%10)).done)
	}
	later := begin("b0")
	open = c.pass(c.join(open))
	if n := len(open); n != 3 || len(c.waiting) != 4 || session.state().Seq != 0 {
		t.Errorf("%d are open, later events may wait for %d, and the session is at %d", n, len(c.waiting),
			session.state().Seq)
	}
	close(slow.done)
	if open = c.pass(open); len(open) != 1 || session.state().Seq != 101 || session.state().Last != "1100" {
		t.Errorf("then %d are open, and the session is at %+v", len(open), session.state())
	}
	close(later.done)
	if open = c.pass(open); len(open) != 0 || len(c.waiting) != 0 || session.state().Seq != 102 {
		t.Errorf("at last %d are open, later events may wait for %d, and the session is at %d", len(open),
			len(c.waiting), session.state().Seq)
	}
}
