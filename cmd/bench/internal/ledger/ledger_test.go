package ledger_test

import (
	"testing"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
)

func TestMarksAreFoundInAnyFormat(t *testing.T) {
	for text, want := range map[string]int{
		`{"text":"echo: ` + ledger.Mark(0) + ` how"}`:            0,
		"text=echo%3A+" + ledger.Mark(42) + "+how&thread_ts=1.2": 42,
		ledger.Mark(7) + " and " + ledger.Mark(8):                7,
		"no mark": -1, "benchmark0": -1, "benchmark0x": -1, "benchmark012": -1, "benchmark01234567890123x": -1,
	} {
		if got, ok := ledger.Marked([]byte(text)); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}

func TestSummaryCountsLostAndDoubled(t *testing.T) {
	l := ledger.New(5)
	l.Begin(1, 5)
	now := time.Now()
	for n := 1; n < 5; n++ {
		l.Sent(n, now)
		l.Sent(n, now.Add(time.Hour)) // the first counts
	}
	l.Acked(1)
	for _, n := range []int{1, 2, 2, 3, 0} { // 0 is of an earlier span
		if !l.Answered(n) {
			t.Errorf("%d is unknown", n)
		}
	}
	if l.Answered(5) || l.Answered(-1) {
		t.Error("an event that does not exist was answered")
	}
	select {
	case <-l.Done():
		t.Error("done although 4 has no reply")
	default:
	}
	if s := l.Summary(); s.Events != 4 || s.Lost != 1 || s.Doubled != 1 || len(s.Ack) != 1 || len(s.EndToEnd) != 3 ||
		s.EndToEnd[2] > time.Minute {
		t.Errorf("%+v", s)
	}
	if l.Waiting() != 0 || l.Replied() != 4 { // 4 waits, and the reply to 0 came although it was never sent
		t.Errorf("%d wait, %d have a reply", l.Waiting(), l.Replied())
	}
	l.Answered(4)
	<-l.Done()
	if l.Open() != 0 {
		t.Errorf("%d open", l.Open())
	}
}
