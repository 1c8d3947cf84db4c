package dispatch

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/inflight"
)

func TestSlotsAreLimitedByWorkersAndByMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		workers int
		memory  int64
		taken   int
		full    string
	}{
		"workers":                    {3, 100 * turnMemory, 3, "workers"},
		"memory":                     {10, 5 * turnMemory, 4, "memory"}, // a tenth is not for turns
		"no limit of memory":         {10, 0, 10, "workers"},
		"one may run, however large": {10, 1, 1, "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Dispatcher{Options: Options{Memory: inflight.New(tc.memory)}}
			d.slots = newSlots(tc.workers, d.Memory)
			var holds []*inflight.Hold
			for n := 0; d.slots.tryTake(); n++ {
				hold, ok := d.holdFor(core.EventRecord{Event: core.Event{Actor: core.Actor{ID: fmt.Sprint(n)}}}, 0)
				if !ok {
					t.Fatalf("turn %d has a slot and no memory", n)
				}
				holds = append(holds, hold)
			}
			if load := d.Load(); len(holds) != tc.taken || load.Full() != tc.full || load.Running != tc.taken ||
				tc.memory > 0 && load.Held != int64(tc.taken)*turnMemory {
				t.Errorf("%d slots were taken: %+v, full because of %q; want %d and %q", len(holds), load, load.Full(),
					tc.taken, tc.full)
			}
			d.slots.free(tc.taken)
			for _, hold := range holds {
				hold.Release()
			}
			if load := d.Load(); load.Full() != "" || load.Held != 0 {
				t.Errorf("after the end: %+v", load)
			}
		})
	}
}

// TestOnePersonsTurnsLeaveRoomForOthers: where one person's events have used up their share, another's are admitted.
func TestOnePersonsTurnsLeaveRoomForOthers(t *testing.T) {
	d := &Dispatcher{Options: Options{Memory: inflight.New(64 << 20)}}
	event := func(seq int64, who string, bytes int) core.EventRecord {
		return core.EventRecord{Seq: seq, Event: core.Event{Actor: core.Actor{ID: who}, Payload: make([]byte, bytes)}}
	}
	r := d.newRoom(4)
	for i, want := range []bool{true, false, true, true, true, false} {
		e := event(int64(i), "flood", 1<<20)
		if i > 1 {
			e = event(int64(i), fmt.Sprint("person ", i), 10)
		}
		if got := r.Admits(e, size(e)); got != want || r.Admits(e, size(e)) != want {
			t.Errorf("event %d is admitted: %v", i, got)
		}
	}
	first := r.of(0)
	r.leave()
	if held := d.Memory.Held(); held != turnMemory+ownCopies<<20 {
		t.Errorf("the turn that was claimed holds %d bytes", held)
	}
	first.Release()
}

// TestALargeEventRunsItsSecondAttemptAlone beside no other one of its kind.
func TestALargeEventRunsItsSecondAttemptAlone(t *testing.T) {
	d := &Dispatcher{Options: Options{Memory: inflight.New(256 << 20)}}
	event := func(seq int64, attempt int) core.EventRecord {
		e := core.EventRecord{Seq: seq, Attempt: attempt}
		e.Actor.ID = fmt.Sprint(seq)
		return e
	}
	r := d.newRoom(10)
	for i, tc := range []struct {
		attempt int
		bytes   int64
		want    bool
	}{
		{2, 1 << 20, true}, {2, 1 << 20, false}, {1, 1 << 20, true}, {2, 1000, true},
	} {
		if got := r.Admits(event(int64(i+1), tc.attempt), tc.bytes); got != tc.want {
			t.Errorf("event %d is admitted: %v", i, got)
		}
	}
	r.leave()
	if !d.newRoom(1).Admits(event(2, 2), 1<<20) {
		t.Error("the next one is not admitted after the first one's end")
	}
}

// TestAPlaceIsWaitedFor: all that wait get a place in the end, also where two are freed at once.
func TestAPlaceIsWaitedFor(t *testing.T) {
	p := newSlots(2, nil)
	p.take(t.Context())
	p.take(t.Context())
	took := make(chan bool)
	for range 4 {
		go func() { took <- p.take(t.Context()) }()
	}
	p.free(2)
	for range 4 {
		if !<-took {
			t.Fatal("a place was not given")
		}
		if load := p.load(); load.Running > 2 {
			t.Errorf("%+v", load)
		}
		p.free(1)
	}
}

func TestWhatATurnReadsIsCountedOnce(t *testing.T) {
	budgeted := inflight.New(1 << 30)
	e := core.EventRecord{Event: core.Event{Payload: []byte("12345678")}}
	var m memory
	m.hold = budgeted.Hold(inflight.Turns, "ann")
	m.hold.Take(weight(size(e)))
	m.begin(e)
	stored := make([]core.Message, 10)
	for i := range stored {
		stored[i].Content = core.Text(strings.Repeat("x", 100))
	}
	h := m.counted(core.NewHistory(len(stored), func(_ context.Context, skip, n int) ([]core.Message, error) {
		end := len(stored) - skip
		return stored[max(0, end-n):end], nil
	}))
	held := func() int64 { return budgeted.Held() - turnMemory }
	for _, step := range []struct {
		skip, n int
		want    int64
	}{
		{0, 2, 8 + copies*200}, {0, 2, 8 + copies*200}, {1, 2, 8 + copies*300}, {3, 4, 8 + copies*700},
		{0, 10, 8 + copies*1000},
	} {
		if _, err := h.Page(t.Context(), step.skip, step.n); err != nil || held() != step.want {
			t.Errorf("after the messages %+v it holds %d bytes, %v", step, held(), err)
		}
	}
	m.added(stored[:1])
	m.added(stored[:3])
	if want := int64(8 + copies*1300); held() != want {
		t.Errorf("with those it added it holds %d bytes, want %d", held(), want)
	}
	cut := 0
	m.most, m.cut = 1<<20, func(error) { cut++ }
	m.grow(1 << 20)
	if cut != 1 {
		t.Error("it was not told that it holds too much")
	}
}
