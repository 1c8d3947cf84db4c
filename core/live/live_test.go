package live_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/core/live"
)

// TestATurnShowsWhatItDoes at each moment: a snapshot is not changed by what comes later.
func TestATurnShowsWhatItDoes(t *testing.T) {
	at := time.Now()
	h := live.New("web")
	turn := h.Begin("web", "c", 7)
	var seen []live.State
	for _, do := range []func(){
		turn.Writes,
		func() { turn.Piece("Let ") }, func() { turn.Piece("me") },
		turn.Writes, // the attempt failed
		func() { turn.Piece("I look") },
		func() { turn.Said("I look.") },
		func() { turn.Step("find", at) },
		turn.Writes,
		func() { turn.Waits(at) },
		func() { turn.Piece("It is sent") },
	} {
		do()
		s, ok := h.State("c")
		if !ok {
			t.Fatal("no turn runs")
		}
		seen = append(seen, s)
	}
	said := []string{"I look."}
	if want := []live.State{
		{Turn: 7}, {Turn: 7, Writing: "Let "}, {Turn: 7, Writing: "Let me"}, {Turn: 7}, {Turn: 7, Writing: "I look"},
		{Turn: 7, Said: said}, {Turn: 7, Said: said, Tool: "find", Since: at}, {Turn: 7, Said: said},
		{Turn: 7, Said: said, RetryAt: at}, {Turn: 7, Said: said, Writing: "It is sent"},
	}; !reflect.DeepEqual(seen, want) {
		t.Errorf("it showed %+v", seen)
	}
	turn.End()
	if _, ok := h.State("c"); ok {
		t.Error("the turn is there after its end")
	}
}

// TestWhoWatchesIsWoken once for all changes that were not noticed, by the conversations that it watches alone.
func TestWhoWatchesIsWoken(t *testing.T) {
	h := live.New("web")
	turn, other := h.Begin("web", "c", 7), h.Begin("web", "d", 8)
	if turn.Watched() {
		t.Error("the turn is watched before anybody watches it")
	}
	changed, end := h.Watch("c")
	if !turn.Watched() || other.Watched() {
		t.Error("another turn is watched")
	}
	other.Piece("no")
	select {
	case <-changed:
		t.Error("woken by another conversation")
	default:
	}
	for range 1000 {
		turn.Piece("x") // nobody takes them: nothing blocks
	}
	<-changed
	select {
	case <-changed:
		t.Error("woken twice")
	default:
	}
	end()
	if turn.Watched() {
		t.Error("the turn is watched after the end")
	}
}

// TestWhatIsHeldIsBounded: of a long text its beginning is shown, without a hole, and the next one is shown again.
func TestWhatIsHeldIsBounded(t *testing.T) {
	h := live.New("web")
	turn := h.Begin("web", "c", 7)
	for range 100 {
		turn.Piece(strings.Repeat("a", 1000))
	}
	turn.Piece("b")
	if s, _ := h.State("c"); strings.Trim(s.Writing, "a") != "" || len(s.Writing) < 60000 || len(s.Writing) > 64<<10 {
		t.Errorf("%d bytes are shown", len(s.Writing))
	}
	turn.Said(strings.Repeat("a", 100_000))
	if s, _ := h.State("c"); len(s.Writing) < 60000 || len(s.Said) > 0 {
		t.Errorf("once it is whole, %d bytes are shown", len(s.Writing))
	}
	turn.Writes()
	turn.Piece("b")
	if s, _ := h.State("c"); s.Writing != "b" {
		t.Errorf("the next answer shows %.20q", s.Writing)
	}
}

// TestATurnThatCantBeLookedAt is none: of a platform that is not shown, or without a hub.
func TestATurnThatCantBeLookedAt(t *testing.T) {
	var none *live.Hub
	for name, h := range map[string]*live.Hub{"another platform": live.New("web"), "no hub": none} {
		turn := h.Begin("elsewhere", "c", 7)
		changed, end := h.Watch("c")
		turn.Step("find", time.Now())
		turn.Waits(time.Now())
		turn.Writes()
		turn.Piece("a")
		turn.Said("a")
		_, ok := h.State("c")
		if ok || turn.Watched() || len(changed) > 0 {
			t.Errorf("%s: the turn can be looked at", name)
		}
		turn.End()
		end()
	}
}
