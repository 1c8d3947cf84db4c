package load_test

import (
	"context"
	"sync"
	"testing"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
)

// TestMixedSendsOneOfTenTwice sends 25 events to a bot that answers each when it is acknowledged.
func TestMixedSendsOneOfTenTwice(t *testing.T) {
	const first, end = 5, 30
	book := ledger.New(end)
	var mu sync.Mutex
	times, again := map[int]int{}, map[int]int{}
	err := load.Send(t.Context(), load.Plan{Senders: 3, Mode: load.Mixed}, book, first, end, func(int) {},
		func() (load.Deliver, func()) {
			return func(_ context.Context, n int, repeated bool) error {
				mu.Lock()
				defer mu.Unlock()
				times[n]++
				if repeated {
					again[n]++
				}
				return nil
			}, func() {}
		})
	if err != nil {
		t.Fatal(err)
	}
	for n := range end {
		want := 0
		if n >= first {
			want = 1
		}
		if n == 14 || n == 24 {
			want = 2
		}
		if times[n] != want || want == 2 != (again[n] == 1) {
			t.Errorf("event %d was sent %d times, %d times as a repetition", n, times[n], again[n])
		}
	}
}

// TestSendersWaitForReplies has a bot that answers only once so many events wait as may.
func TestSendersWaitForReplies(t *testing.T) {
	const events, backlog = 20, 4
	book := ledger.New(events)
	taken := make(chan int, events)
	go func() {
		var waiting []int
		for n := range taken {
			if waiting = append(waiting, n); len(waiting) == backlog {
				for _, one := range waiting {
					book.Answered(one)
				}
				waiting = nil
			}
		}
	}()
	most := 0
	err := load.Send(t.Context(), load.Plan{Senders: 1, Backlog: backlog}, book, 0, events, func(int) {},
		func() (load.Deliver, func()) {
			return func(_ context.Context, n int, _ bool) error {
				most = max(most, book.Waiting())
				taken <- n
				return nil
			}, func() { close(taken) }
		})
	if err != nil || most != backlog {
		t.Errorf("%d waited: %v", most, err)
	}
}
