package dispatch

import (
	"context"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestSlotsAreLimitedByWorkersAndByMemory(t *testing.T) {
	for name, tc := range map[string]struct {
		slots *slots
		taken int
		full  string
	}{
		"workers":                    {newSlots(3, 100*turnMemory), 3, "workers"},
		"memory":                     {newSlots(10, 4*turnMemory+1), 4, "memory"},
		"no limit of memory":         {newSlots(10, 0), 10, "workers"},
		"one may run, however large": {newSlots(10, 1), 1, "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			taken := 0
			for tc.slots.tryTake() {
				taken++
			}
			if load := tc.slots.load(); taken != tc.taken || load.Full() != tc.full || load.Running != taken ||
				load.Held != int64(taken)*turnMemory {
				t.Errorf("%d slots were taken: %+v, full because of %q; want %d and %q", taken, load, load.Full(),
					tc.taken, tc.full)
			}
			tc.slots.free(taken)
			if load := tc.slots.load(); load.Full() != "" || load.Held != 0 {
				t.Errorf("after the end: %+v", load)
			}
		})
	}
}

// TestAPlaceIsWaitedFor: all that wait get a place in the end, also where two are freed at once.
func TestAPlaceIsWaitedFor(t *testing.T) {
	p := newSlots(2, 0)
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
	p := newSlots(10, 0)
	p.tryTake()
	var m memory
	m.begin(p, core.EventRecord{Event: core.Event{Payload: []byte("12345678")}})
	stored := make([]core.Message, 10)
	for i := range stored {
		stored[i].Content = core.Text(strings.Repeat("x", 100))
	}
	h := m.counted(core.NewHistory(len(stored), func(_ context.Context, skip, n int) ([]core.Message, error) {
		end := len(stored) - skip
		return stored[max(0, end-n):end], nil
	}))
	held := func() int64 { return p.load().Held - turnMemory }
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
	m.end()
	if held() != 0 {
		t.Errorf("after its end it holds %d bytes", held())
	}
}
