package inflight

import (
	"fmt"
	"testing"
)

// body counts how often it is cut.
type body struct{ cut int }

func (b *body) Cut() { b.cut++ }

const mib = 1 << 20

// taking takes as often as it is allowed to, each time for another request of an owner.
func taking(b *Budget, k Kind, owner string, bytes int64) (held int64) {
	for {
		h := b.Hold(k, owner)
		if !h.Take(bytes) {
			return held
		}
		held += bytes
	}
}

func TestNobodyTakesWhatOthersNeed(t *testing.T) {
	b := New(400 * mib)
	for _, step := range []struct {
		kind  Kind
		owner string
		want  int64 // in MiB
	}{
		{Strangers, "192.0.2.1", 50}, {Strangers, "192.0.2.2", 50}, {Strangers, "192.0.2.3", 0},
		{People, "ann", 50}, {People, "bob", 50}, {People, "eve", 0},
		{Turns, "ann", 100}, {Turns, "bob", 60}, {Turns, "eve", 0}, {Large, "eve", 0},
		{Kept, "192.0.2.1", 20}, {Kept, "192.0.2.2", 20}, {Kept, "192.0.2.3", 0},
	} {
		if got := taking(b, step.kind, step.owner, mib); got != step.want*mib {
			t.Errorf("%s takes %d MiB of kind %d, want %d", step.owner, got/mib, step.kind, step.want)
		}
	}
	if b.Held() != 400*mib {
		t.Errorf("all hold %d MiB", b.Held()/mib)
	}
}

// TestTurnsLeaveTheTenth: turns may take what requests leave, and not what is kept.
func TestTurnsLeaveTheTenth(t *testing.T) {
	b := New(400 * mib)
	var held int64
	for i := range 10 {
		held += taking(b, Turns, fmt.Sprint(i), mib)
	}
	if held != 360*mib || taking(b, People, "ann", mib) != mib || taking(b, Kept, "ann", mib) != 20*mib {
		t.Errorf("turns take %d MiB, all hold %d MiB", held/mib, b.Held()/mib)
	}
}

// TestOnePersonsLargeTurnsAreFew: they take a sixteenth, beside the person's other turns.
func TestOnePersonsLargeTurnsAreFew(t *testing.T) {
	b := New(400 * mib)
	if held := taking(b, Large, "ann", 5*mib); held != 25*mib {
		t.Errorf("large turns take %d MiB", held/mib)
	}
	if taking(b, Turns, "ann", mib) != 100*mib || taking(b, Large, "bob", 30*mib) != 30*mib {
		t.Error("other turns of the person, or the first large one of another, do not fit")
	}
}

func TestWhatIsGivenBackCanBeTaken(t *testing.T) {
	b := New(80)
	h := b.Hold(People, "ann")
	if !h.Take(12) || b.Held() != 12 {
		t.Fatal("the first is larger than its share, and was refused")
	}
	if b.Hold(People, "ann").Take(2) {
		t.Error("a second one was taken")
	}
	if !b.Hold(People, "bob").Take(2) {
		t.Error("another's was refused")
	}
	h.As(Strangers, "192.0.2.1")
	if !b.Hold(People, "ann").Take(2) {
		t.Error("what is on behalf of somebody else counts")
	}
	h.Grow(3)
	h.Release()
	select {
	case <-b.Freed():
	default:
		t.Error("nobody is told")
	}
	if h.Release(); b.Held() != 4 {
		t.Errorf("%d bytes are held", b.Held())
	}
}

// TestTheOldestArrivingBodyIsCut: of the same owner where that has too much, else of all; and none that has arrived.
func TestTheOldestArrivingBodyIsCut(t *testing.T) {
	b := New(80)
	receive := func(owner string, bytes int64) (*Hold, *body, bool) {
		h, one := b.Hold(Strangers, owner), &body{}
		return h, one, h.Receive(bytes, one, false)
	}
	whole, first, _ := receive("a", 4)
	if !whole.Arrived() {
		t.Fatal("it was cut")
	}
	slow, second, _ := receive("a", 3)
	other, third, _ := receive("b", 9)
	again, _, ok := receive("a", 4)
	if !ok || !again.Arrived() || first.cut != 0 || second.cut != 1 || third.cut != 0 || slow.Arrived() {
		t.Errorf("ok %v, cut %v %v %v", ok, first, second, third)
	}
	if slow.Take(1) {
		t.Error("what was cut takes more")
	}
	if _, _, ok := receive("c", 8); !ok || third.cut != 1 || other.Arrived() {
		t.Errorf("ok %v, cut %v", ok, third)
	}
	if _, _, ok := receive("a", 5); ok {
		t.Error("what has arrived was cut")
	}
}

// TestPromptBodiesHaveTheTenth: they take of it only what does not fit elsewhere.
func TestPromptBodiesHaveTheTenth(t *testing.T) {
	b := New(400)
	taking(b, Strangers, "a", 1)
	h, one := b.Hold(Strangers, "a"), &body{}
	if h.Receive(1, one, false) {
		t.Fatal("it has room")
	}
	for range 100 {
		one, h := &body{}, b.Hold(Strangers, "a")
		if !h.Receive(1, one, true) {
			t.Fatal("it has no room")
		}
	}
	if b.pools[Kept].held != 20 {
		t.Errorf("%d bytes of the kept are held", b.pools[Kept].held)
	}
	free := New(400)
	free.Hold(Strangers, "a").Receive(1, one, true)
	if free.pools[Kept].held != 0 {
		t.Error("it takes the kept although there is other room")
	}
}

func TestWithoutALimitEverythingFits(t *testing.T) {
	for _, b := range []*Budget{nil, New(0)} {
		h := b.Hold(Strangers, "a")
		if !h.Take(1<<60) || !h.Receive(1<<60, &body{}, false) || !h.Arrived() || b.Limit() != 0 || b.Held() != 0 {
			t.Errorf("%v: something is limited", b)
		}
		h.As(People, "b")
		h.Grow(5)
		h.Release()
	}
}
