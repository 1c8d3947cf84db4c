package outbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

var errForbidden = core.Errorf(core.DeliveryForbidden, "The bot may not write here. Let it.")

// A permission is missing at first and is then granted.
func TestForbiddenPostIsDeliveredInOrderOnceTheCauseIsFixed(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = []error{errForbidden, errForbidden}
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	if got := o.flush(); got != "a.0, b.0" {
		t.Errorf("%s", got)
	}
	if row := o.row("a"); row.State != core.RowSent || row.Cause != "" || row.Attempts != 0 {
		t.Errorf("it is kept as %+v", row)
	}
}

func TestForbiddenPostIsRetriedWithLongWaitsAndShowsItsCause(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) { opt.Jitter = nil })
	o.board.script["a.0"] = slices.Repeat([]error{errForbidden}, 3)
	o.put(core.Post{Key: "a"})
	began := time.Now()
	if got := o.flush(); got != "" {
		t.Errorf("%s", got)
	}
	row := o.row("a")
	if wait := row.NextAt.Sub(began); row.State != core.RowWaiting || !strings.Contains(row.Cause, "Let it.") ||
		wait < 55*time.Second || wait > 2*time.Minute {
		t.Errorf("after one refusal it waits for %s as %+v", wait, row)
	}
}

func TestForbiddenPostIsDeadAfterADay(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = slices.Repeat([]error{errForbidden}, 1000)
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	if got := o.flush(); got != "b.0" {
		t.Errorf("%s", got)
	}
	if row := o.row("a"); row.State != core.RowDead || !strings.Contains(row.Cause, "Let it.") ||
		len(o.board.script["a.0"]) < 800 {
		t.Errorf("it is kept as %+v, after %d tries", row, 1000-len(o.board.script["a.0"]))
	}
}

type stillOpen struct{}

func (stillOpen) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{Approval: id, State: core.Open}, nil
}

// The approvers get copies of the card at once, and the conversation gets it once it is allowed.
func TestForbiddenCardIsCopiedOnce(t *testing.T) {
	var h *copier
	o := newOffice(t, true, func(opt *outbox.Options) {
		h = &copier{reader: opt.Platforms[0].(reader)}
		opt.Platforms, opt.Cards = []core.Platform{h}, stillOpen{}
	})
	o.board.script["card/a.0"] = []error{errForbidden, errForbidden, errForbidden}
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 1)
	shown := o.board.seen()
	if h.refused != 1 || !slices.Contains(shown, "word/card/a.0 open") || !slices.Contains(shown, "card/a.0 open") {
		t.Errorf("it was told %d times: %v", h.refused, shown)
	}
}
