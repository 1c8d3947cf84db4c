package outbox_test

import (
	"context"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// flushUntil flushes repeatedly until a row is in a state.
func (o *office) flushUntil(key string, want core.RowState, shown int) core.OutboxRow {
	o.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		o.flush()
		row := o.row(key)
		if row.State == want && row.Shown == shown {
			return row
		}
		if time.Now().After(deadline) {
			o.t.Fatalf("it never became %s: %+v", want, row)
		}
	}
}

// failing is an outbox store whose next calls can be made to fail.
type failing struct {
	core.Outbox
	save, release int
}

func (f *failing) SavePost(ctx context.Context, r core.OutboxRow) error {
	if f.save > 0 {
		f.save--
		return core.Errorf(core.StoreBusy, "busy")
	}
	return f.Outbox.SavePost(ctx, r)
}

func (f *failing) ReleasePost(ctx context.Context, r core.OutboxRow, w time.Duration) (bool, error) {
	if f.release > 0 {
		f.release--
		return false, core.Errorf(core.ClaimLost, "the process died here")
	}
	return f.Outbox.ReleasePost(ctx, r, w)
}

// The process crashes between storing the platform's answer and releasing the row; the approval is decided before the
// next delivery.
func TestLaw7_CardDecidedDuringItsSendIsRedrawn(t *testing.T) {
	f := &failing{}
	o := newOffice(t, true, func(opt *outbox.Options) { f.Outbox = opt.Store; opt.Store = f })
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	f.release = 1
	o.flush()
	o.die()
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"}) // what redraw does: the wanted version rises
	o.flushUntil("card/a", core.RowSent, 2)
	if shown := o.flush(); shown == "card/a.0 approved" {
		t.Error("the row says that version 2 is shown, but nothing was edited: the card stands as it was first drawn")
	}
}

// The store is busy once, before anything was sent.
func TestBusyStoreLeavesNoDoubtAboutAnUnsentPart(t *testing.T) {
	f := &failing{}
	o := newOffice(t, false, func(opt *outbox.Options) { f.Outbox = opt.Store; opt.Store = f })
	o.put(core.Post{Key: "a"})
	f.save = 1
	o.flushUntil("a", core.RowSent, 1)
}

type brokenCards struct{ n int }

func (b *brokenCards) Card(context.Context, core.ApprovalID, bool) (core.Card, error) {
	if b.n--; b.n >= 0 {
		return core.Card{}, core.Errorf(core.Internal, "Something went wrong with the database.")
	}
	return core.Card{State: core.Open}, nil
}

func TestStoreErrorIsNotAPlatformRefusal(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) { opt.Cards = &brokenCards{1} })
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 1)
}

// limited is rate-limited once, at the edit of a card.
type limited struct {
	reader
	once bool
}

func (l *limited) Edit(ctx context.Context, ref core.Ref, d core.Delivery) error {
	if !l.once {
		l.once = true
		return &core.Error{Category: core.DeliveryLater, Message: "429", RetryAfter: time.Millisecond}
	}
	return l.reader.Edit(ctx, ref, d)
}

// An approval is decided two days after its card was sent; the platform answers the first edit with 429.
func TestOldCardIsEditedAfterADelay(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) {
		opt.Platforms = []core.Platform{&limited{reader: opt.Platforms[0].(reader)}}
	})
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flush()
	o.ahead += 48 * time.Hour
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"}) // redraw
	o.flushUntil("card/a", core.RowSent, 2)
}

// The platform asks to wait three times. Then the answer of a send is lost, although the post arrived and can be looked
// up.
func TestRateLimitWaitsAreNotLookups(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = []error{errLater, errLater, errLater, errDoubt}
	o.board.lost["a.0"] = true
	o.put(core.Post{Key: "a"})
	o.flushUntil("a", core.RowSent, 1)
	if got := o.flush(); got != "a.0" {
		t.Errorf("shown: %s", got)
	}
}

type bomb struct{ reader }

func (b bomb) Post(context.Context, core.Delivery) (core.Ref, bool, error) {
	panic("a row that can't be drawn")
}

func TestPanicInAPlatformMakesTheRowDead(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) {
		opt.Platforms = []core.Platform{bomb{opt.Platforms[0].(reader)}}
	})
	o.put(core.Post{Key: "a"})
	o.flush()
	if row := o.row("a"); row.State != core.RowDead {
		t.Errorf("%+v", row)
	}
}

type lostEdit struct {
	*board
	once bool
}

func (l *lostEdit) Edit(ctx context.Context, ref core.Ref, d core.Delivery) error {
	if !l.once {
		l.once = true
		return errDoubt
	}
	return l.board.Edit(ctx, ref, d)
}

// The answer of an edit is lost. An edit can be repeated safely.
func TestEditInDoubtIsRepeated(t *testing.T) {
	o := newOffice(t, false, func(opt *outbox.Options) {
		opt.Platforms = []core.Platform{&lostEdit{board: opt.Platforms[0].(*board)}}
	})
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flush()
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 2)
}

type slowCards struct{ n int }

func (s *slowCards) Card(ctx context.Context, _ core.ApprovalID, _ bool) (core.Card, error) {
	if s.n--; s.n >= 0 {
		<-ctx.Done()
		return core.Card{}, ctx.Err()
	}
	return core.Card{}, nil
}

// The timeout of a send ends before anything was sent.
func TestTimeoutBeforeTheSendLeavesNoDoubt(t *testing.T) {
	o := newOffice(t, false, func(opt *outbox.Options) {
		opt.Cards, opt.Timeout = &slowCards{1}, 50*time.Millisecond
	})
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"})
	o.flushUntil("card/a", core.RowSent, 1)
}

// Clearing a typing indicator is retried after a temporary failure, since it would stay on. It is not retried after a
// permanent refusal.
func TestTypingIndicatorIsCleared(t *testing.T) {
	for name, c := range map[string]struct {
		errs []error
		want string
	}{
		"busy, then no answer": {[]error{nil, errLater, errDoubt}, "working true, working false"},
		"refused":              {[]error{nil, errNever}, "working true"},
		"not even shown":       {[]error{errLater}, "working false"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, true, nil)
			o.board.signs = c.errs
			o.put(core.Post{Key: "working/x", Kind: core.PostWorking, On: true})
			o.flush()
			o.put(core.Post{Key: "working/x", Kind: core.PostWorking})
			o.flushUntil("working/x", core.RowSent, 2)
			if got := o.flush(); got != c.want {
				t.Errorf("shown: %s, want %s", got, c.want)
			}
		})
	}
}
