package outbox_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// A rate-limited lookup is repeated for as long as necessary.
func TestDelayedLookupIsNotAFailedLookup(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = []error{errDoubt}
	o.board.lost["a.0"] = true
	for range 10 {
		o.board.find = append(o.board.find, &core.Error{Category: core.DeliveryLater, RetryAfter: time.Millisecond})
	}
	o.put(core.Post{Key: "a"})
	o.flushUntil("a", core.RowSent, 1)
}

// slow is a rate-limited platform: it sends nothing until it is opened.
type slow struct {
	reader
	mu   sync.Mutex
	open map[string]bool // by conversation
}

func (s *slow) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[d.To.Channel] {
		return s.reader.Post(ctx, d)
	}
	return "", false, &core.Error{Category: core.DeliveryNotYet, RetryAfter: time.Millisecond}
}

func TestRateLimitedChannelDelaysNoOther(t *testing.T) {
	var p *slow
	o := newOffice(t, true, func(opt *outbox.Options) {
		p = &slow{reader: opt.Platforms[0].(reader), open: map[string]bool{"fast": true}}
		opt.Platforms = []core.Platform{p}
	})
	for _, key := range []string{"a", "b"} {
		o.put(core.Post{Key: "slow " + key, To: core.Address{Channel: "slow"}},
			core.Post{Key: "fast " + key, To: core.Address{Channel: "fast"}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.box.Run(ctx) }()
	until(t, func() bool { return slices.Equal(o.board.seen(), []string{"fast a.0", "fast b.0"}) })
	if row := o.row("slow a"); row.Attempts != 0 || row.State != core.RowWaiting {
		t.Errorf("waiting its turn counts as a failure: %+v", row)
	}
	p.mu.Lock()
	p.open["slow"] = true
	p.mu.Unlock()
	until(t, func() bool {
		return slices.Equal(o.board.seen(), []string{"fast a.0", "fast b.0", "slow a.0", "slow b.0"})
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func until(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(20 * time.Second); !so(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("it never came to be")
		}
	}
}

// copier is a platform whose approvers can't see the conversation.
type copier struct {
	reader
	err     []error // of CardCopies, in turn
	refused int
	leftOut int
	loud    int // how often a card was posted that asks, and says who was left out
}

func (h *copier) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	if !d.Quiet && d.LeftOut > 0 {
		h.loud++
	}
	return h.reader.Post(ctx, d)
}

func (h *copier) NameOf(context.Context, core.Actor) string { return "" }

func (h *copier) Groups(context.Context, core.Actor, []string) ([]string, error) { return nil, nil }

func (h *copier) CardCopies(_ context.Context, d core.Delivery, refused bool) (core.Copies, error) {
	if len(h.err) > 0 {
		err := h.err[0]
		h.err = h.err[1:]
		return core.Copies{}, err
	}
	key := "copy"
	if refused {
		h.refused++
		key = "word"
	}
	return core.Copies{
		LeftOut: h.leftOut,
		Posts: []core.Post{{
			Key: key + "/" + d.Key, To: core.Address{Platform: "board", Channel: "boss"}, Conversation: d.Conversation,
			Kind: core.PostCard, Approval: d.Approval, Copy: true,
		}},
	}, nil
}

// openCards returns open approvals and records which cards were requested with context.
type openCards struct {
	mu    sync.Mutex
	asked []bool
}

func (c *openCards) Card(_ context.Context, id core.ApprovalID, context bool) (core.Card, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, context)
	return core.Card{Approval: id, State: core.Open}, nil
}

// last reports whether the last card was requested with context.
func (c *openCards) last() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[len(c.asked)-1]
}

func copyOffice(t *testing.T, errs ...error) (o *office, h *copier, all *openCards) {
	all = &openCards{}
	o = newOffice(t, true, func(opt *outbox.Options) {
		h = &copier{reader: opt.Platforms[0].(reader), err: errs}
		opt.Platforms, opt.Cards = []core.Platform{h}, all
	})
	return o, h, all
}

func TestCardIsCopiedForApproversWhoCannotSeeIt(t *testing.T) {
	o, h, all := copyOffice(t, errLater)
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 1)
	if got := o.flush(); got != "card/a.0 open, copy/card/a.0 open" {
		t.Errorf("shown: %s", got)
	}
	if !all.last() {
		t.Error("the copy tells nothing of the conversation")
	}
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"}) // redraw
	o.flushUntil("card/a", core.RowSent, 2)
	if h.refused != 0 || len(o.board.seen()) != 3 {
		t.Errorf("shown: %v", o.board.seen())
	}
}

// Not every approver got a copy, so the card in the conversation asks from the start, and says so.
func TestQuietCardAsksIfApproversWereLeftOut(t *testing.T) {
	var log bytes.Buffer
	o, h, _ := copyOffice(t)
	o.box = outbox.New(
		outbox.Options{
			Store: o.store, Cards: stillOpen{}, Platforms: []core.Platform{h}, Owner: "me",
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
	h.leftOut = 5
	h.script["card/a.0"] = []error{errLater}
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a", Quiet: true})
	o.ahead += time.Minute
	for range 2 {
		o.flush()
		o.ahead += time.Minute
	}
	if row := o.row("card/a"); row.Quiet || row.LeftOut != 5 || row.Wanted != 1 || row.State != core.RowSent {
		t.Errorf("%+v", row)
	}
	if h.loud != 2 {
		t.Errorf("it was drawn %d times as a card that asks, want 2", h.loud)
	}
	if n := strings.Count(log.String(), "approval=a post=1 left_out=5"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, &log)
	}
}

func TestCardIsSentWithoutCopiesIfTheLookupOfApproversFails(t *testing.T) {
	o, _, _ := copyOffice(t, slices.Repeat([]error{errLater}, 100)...)
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 1)
	if got := o.flush(); got != "card/a.0 open" {
		t.Errorf("shown: %s", got)
	}
}

func TestRefusedCardIsCopiedForAllApprovers(t *testing.T) {
	o, h, _ := copyOffice(t)
	o.board.script["card/a.0"] = []error{errNever}
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	for len(o.board.seen()) < 2 {
		o.flush()
	}
	if row := o.row("card/a"); row.State != core.RowDead || h.refused != 1 {
		t.Errorf("%+v, told %d times", row, h.refused)
	}
	if got := o.flush(); got != "copy/card/a.0 open, word/card/a.0 open" {
		t.Errorf("shown: %s", got)
	}
}

// A card that was refused, or may be lost, leaves who asked with a sentence, where no directory sends them one.
func TestRequesterLearnsThatTheCardDidNotArrive(t *testing.T) {
	for name, lost := range map[string]error{"refused": errNever, "unknown": errDoubt} {
		t.Run(name, func(t *testing.T) {
			fails := &brokenCards{}
			o := newOffice(t, false, func(opt *outbox.Options) { opt.Cards = fails })
			o.board.script["card/a.0"] = []error{lost}
			o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
			o.flushUntil("card/a", map[string]core.RowState{"refused": core.RowDead, "unknown": core.RowUnknown}[name],
				0)
			if row := o.flushUntil("card/a/undelivered", core.RowSent, 1); row.Kind != core.PostNotice ||
				!strings.Contains(row.Text, "gatehouse approvals approve a") {
				t.Errorf("%+v", row)
			}
		})
	}
	o := newOffice(t, false, nil) // whose cards are decided
	o.board.script["card/a.0"] = []error{errNever}
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowDead, 0)
	if got := o.flush(); got != "" {
		t.Errorf("shown: %s", got)
	}
}
