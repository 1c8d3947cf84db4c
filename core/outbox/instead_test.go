package outbox_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// directory is a platform that can't be read, and on which the approvers are ann and bob. bob is one person with the
// accounts bob and rob.
type directory struct {
	*board
	mu  sync.Mutex
	err []error // of the look-ups after a refusal, in turn; guarded by mu
}

func (d *directory) NameOf(context.Context, core.Actor) string { return "" }

func (d *directory) Groups(context.Context, core.Actor, []string) ([]string, error) { return nil, nil }

func (d *directory) CardCopies(_ context.Context, v core.Delivery, refused bool) (core.Copies, error) {
	if !refused {
		return core.Copies{}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.err) > 0 {
		err := d.err[0]
		d.err = d.err[1:]
		return core.Copies{}, err
	}
	all := core.Copies{LeftOut: 3}
	for _, who := range []string{"ann", "bob", "rob"} {
		all.Posts = append(all.Posts, core.Post{
			Key: v.Key + "/" + who, To: core.Address{Platform: "board", Channel: "dm-" + who},
			Conversation: v.Conversation, Kind: core.PostCard,
			Approval: v.Approval, Copy: true, Person: who, Instead: v.Instead,
		})
	}
	return all, nil
}

type askedHere struct{}

func (askedHere) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{
		Approval: id, State: core.Open, From: core.Address{Platform: "board", Channel: "home"},
		People: map[string]string{"bob": "b", "rob": "b"},
	}, nil
}

// toldElsewhere is an office with a quiet card in the conversation and a copy in the channel ops, which fails.
func toldElsewhere(t *testing.T, fails error, lookup ...error) *office {
	t.Helper()
	o := newOffice(t, false, func(opt *outbox.Options) {
		opt.Platforms, opt.Cards = []core.Platform{&directory{board: opt.Platforms[0].(*board), err: lookup}},
			askedHere{}
	})
	o.board.script["card/a/ops.0"] = slices.Repeat([]error{fails}, 1000)
	return o
}

func (o *office) putQuietCard() {
	o.t.Helper()
	o.put(
		core.Post{Key: "card/a", To: core.Address{Channel: "home"}, Kind: core.PostCard, Approval: "a", Quiet: true},
		core.Post{
			Key: "card/a/ops", To: core.Address{Channel: "ops"}, Kind: core.PostCard, Approval: "a", Copy: true,
			Instead: "card/a",
		},
	)
}

// settle flushes what is due, and returns the keys of all rows.
func (o *office) settle() (keys string) {
	o.t.Helper()
	o.flush()
	rows, err := o.store.ListPosts(o.t.Context(), nil, "", 0)
	if err != nil {
		o.t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, r.Key)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A copy for a channel notifies the approvers in place of the card in the conversation. If it does not arrive, they are
// told all the same.
func TestApproversAreToldDirectlyIfTheirChannelRefusesTheCard(t *testing.T) {
	for name, fails := range map[string]error{
		"until somebody fixes it": errForbidden, "for good": errNever, "perhaps": errDoubt,
	} {
		t.Run(name, func(t *testing.T) {
			o := toldElsewhere(t, fails, errLater)
			o.putQuietCard()
			if got, want := o.settle(), "card/a card/a/ann card/a/bob card/a/ops"; got != want {
				t.Fatalf("rows: %s; want %s", got, want)
			}
			if card := o.row("card/a"); card.Quiet || card.LeftOut != 3 || card.State != core.RowSent ||
				card.Shown != card.Wanted {
				t.Errorf("the card in the conversation: %+v", card)
			}
			if copied := o.row("card/a/ops"); !copied.GaveUp() {
				t.Errorf("the copy: %+v", copied)
			}
			for _, once := range []string{"card/a.0 open", "card/a/ann.0 open", "card/a/bob.0 open"} {
				if n := len(slices.DeleteFunc(o.board.seen(), func(s string) bool { return s != once })); n != 1 {
					t.Errorf("%q was shown %d times: %v", once, n, o.board.seen())
				}
			}
		})
	}
}

// The first refusal that people can fix is enough; they may never fix it.
func TestApproversAreToldAtTheFirstRefusal(t *testing.T) {
	o := toldElsewhere(t, errForbidden)
	o.box = outbox.New(
		outbox.Options{
			Store: o.store, Cards: askedHere{}, Platforms: []core.Platform{&directory{board: o.board}}, Owner: "me",
		})
	o.putQuietCard()
	o.settle()
	if copied := o.row("card/a/ops"); copied.State != core.RowWaiting || copied.Attempts != 1 {
		t.Errorf("the copy: %+v", copied)
	}
	if o.row("card/a").Quiet || o.row("card/a/ann").State != core.RowSent {
		t.Errorf("nobody was told: %v", o.board.seen())
	}
}

func TestWhoAskedLearnsThatNoApproverCouldBeTold(t *testing.T) {
	o := toldElsewhere(t, errForbidden)
	for _, who := range []string{"ann", "bob"} {
		o.board.script["card/a/"+who+".0"] = slices.Repeat([]error{errForbidden}, 1000)
	}
	o.putQuietCard()
	if got, want := o.settle(), "card/a card/a/ann card/a/bob card/a/ops card/a/untold"; got != want {
		t.Fatalf("rows: %s; want %s", got, want)
	}
	if notice := o.row("card/a/untold"); notice.To.Channel != "home" || notice.State != core.RowSent ||
		!strings.Contains(notice.Text, "could not be notified") {
		t.Errorf("%+v", notice)
	}
}

// The card in the conversation notifies the approvers: a copy more or less changes nothing.
func TestRefusedCopyOfACardThatNotifiesIsNoMatter(t *testing.T) {
	o := toldElsewhere(t, errNever)
	o.put(core.Post{Key: "card/a", Kind: core.PostCard, Approval: "a"},
		core.Post{Key: "card/a/ops", To: core.Address{Channel: "ops"}, Kind: core.PostCard, Approval: "a", Copy: true})
	if got := o.settle(); got != "card/a card/a/ops" {
		t.Errorf("rows: %s", got)
	}
}

// An approver who can't see the conversation gets a copy. If that is refused, the card says that one approver was not
// told, whatever becomes of the copy later.
func TestRefusedCopyForAnApproverIsToldOnTheCard(t *testing.T) {
	for name, fails := range map[string]error{
		"until somebody fixes it": errForbidden, "for good": errNever, "perhaps": errDoubt,
	} {
		t.Run(name, func(t *testing.T) {
			o := toldElsewhere(t, nil)
			o.board.script["card/a/ann.0"] = slices.Repeat([]error{fails}, 1000)
			o.put(
				core.Post{
					Key: "card/a", To: core.Address{Channel: "home"}, Kind: core.PostCard, Approval: "a", LeftOut: 2,
				},
				core.Post{
					Key: "card/a/ann", To: core.Address{Channel: "dm-ann"}, Kind: core.PostCard, Approval: "a",
					Copy: true, Person: "ann",
				},
				core.Post{
					Key: "card/a/bob", To: core.Address{Channel: "dm-bob"}, Kind: core.PostCard, Approval: "a",
					Copy: true, Person: "bob",
				},
			)
			for range 40 {
				o.settle()
				o.ahead += time.Hour
			}
			card := o.row("card/a")
			if card.Untold != "card/a/ann\n" || card.LeftOut != 2 || card.State != core.RowSent {
				t.Errorf("%+v", card)
			}
			if got := o.board.leftOut["card/a"]; got != 3 {
				t.Errorf("the card says that %d approvers were left out, want 3", got)
			}
		})
	}
}

// dying is an outbox store whose process dies around FailPost.
type dying struct {
	core.Outbox
	before, after bool
}

func (d *dying) FailPost(ctx context.Context, r core.OutboxRow, w time.Duration, f core.Fallback) error {
	died := core.Errorf(core.ClaimLost, "the process died here")
	if d.before {
		d.before = false
		return died
	}
	err := d.Outbox.FailPost(ctx, r, w, f)
	if d.after {
		d.after = false
		return died
	}
	return err
}

func TestCrashAroundARefusalTellsEverybodyOnce(t *testing.T) {
	for name, store := range map[string]*dying{"before": {before: true}, "after": {after: true}} {
		t.Run(name, func(t *testing.T) {
			o := toldElsewhere(t, errNever)
			store.Outbox = o.store
			o.box = outbox.New(
				outbox.Options{
					Store: store, Cards: askedHere{}, Platforms: []core.Platform{&directory{board: o.board}},
					Owner: "me", Jitter: func() float64 {
						return -1
					},
				})
			o.putQuietCard()
			o.flush()
			o.die()
			if got, want := o.settle(), "card/a card/a/ann card/a/bob card/a/ops"; got != want {
				t.Errorf("rows: %s; want %s", got, want)
			}
			if o.row("card/a").Quiet || !o.row("card/a/ops").GaveUp() {
				t.Errorf("%v", o.board.seen())
			}
		})
	}
}
