package rate_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"gatehouse/cmd/bench/internal/rate"
)

func TestEachSessionDoesItAtLeastOnce(t *testing.T) {
	var done [3]atomic.Int64
	s, err := rate.During(t.Context(), 3, 0, func(_ context.Context, session int) error {
		done[session].Add(1)
		return nil
	})
	if err != nil || s.Done != 3 || len(s.Latencies) != 3 || s.PerSecond() <= 0 {
		t.Errorf("%v: %+v", err, s)
	}
	for session := range done {
		if n := done[session].Load(); n != 1 {
			t.Errorf("session %d: %d", session, n)
		}
	}
}

func TestEachThingIsDoneOnce(t *testing.T) {
	var done [50]atomic.Int64
	s, err := rate.Each(t.Context(), 4, len(done), func(_ context.Context, i int) error {
		done[i].Add(1)
		return nil
	})
	if err != nil || s.Done != len(done) || !slices.IsSorted(s.Latencies) {
		t.Errorf("%v: %+v", err, s)
	}
	for i := range done {
		if n := done[i].Load(); n != 1 {
			t.Errorf("thing %d: %d", i, n)
		}
	}
}

func TestSumHasAllOfEach(t *testing.T) {
	once := func() rate.Sample {
		s, err := rate.Each(t.Context(), 2, 5, func(context.Context, int) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, other := once(), once()
	s := rate.Sum([]rate.Sample{one, other})
	if s.Done != 10 || s.Took != one.Took+other.Took || s.CPU != one.CPU+other.CPU || len(s.Latencies) != 10 ||
		!slices.IsSorted(s.Latencies) {
		t.Errorf("%+v", s)
	}
}

func TestAnErrorEndsAllSessions(t *testing.T) {
	broken := errors.New("it broke")
	_, err := rate.During(t.Context(), 2, 1<<62, func(ctx context.Context, session int) error {
		if session == 0 {
			return broken
		}
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
