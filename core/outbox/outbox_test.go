package outbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/core/outbox"
	"gatehouse/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// board is a platform with scripted answers: the n-th send of a key returns the n-th error.
type board struct {
	mu     sync.Mutex
	script map[string][]error
	shown  []string        // "key.part" as they became visible, "edit key" for edits, "working on/off"
	parts  int             // of every post
	lost   map[string]bool // sends whose answer is lost although they arrived
	late   bool            // what was posted may become readable late
	find   []error         // of look-ups, in turn
	sentAt time.Time       // of the last part that was looked for
	signs  []error         // of working states, in turn
	edits  []error         // of edits, in turn

	leftOut map[string]int // by key: how many approvers the card that is shown says were left out

	now   func() time.Time // of the office
	began time.Time        // by now
	newer time.Time        // of the last message that is shown, by the board's own clock
	reads []time.Time      // when it was looked for a part, by now
}

func (b *board) Name() string                                          { return "board" }
func (b *board) Run(ctx context.Context, _ core.Accept) error          { <-ctx.Done(); return nil }
func (b *board) Parse(context.Context, core.Event) (core.Input, error) { return core.Input{}, nil }

func (b *board) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.Kind == core.PostWorking {
		return "", false, b.working(d.On)
	}
	name := fmt.Sprintf("%s.%d", d.Key, d.Part)
	if errs := b.script[name]; len(errs) > 0 {
		b.script[name] = errs[1:]
		if b.lost[name] && core.CategoryOf(errs[0]) == core.DeliveryInDoubt {
			b.shown = append(b.shown, name)
		}
		if errs[0] != nil {
			return "", false, errs[0]
		}
	}
	if d.Late {
		name += " late"
	}
	if d.Card != nil {
		name += " " + string(d.Card.State)
	}
	b.shown, b.leftOut[d.Key] = append(b.shown, name), d.LeftOut
	return core.Ref(name), d.Part+1 < b.parts, nil
}

func (b *board) Edit(_ context.Context, ref core.Ref, d core.Delivery) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.edits) > 0 {
		var err error
		if err, b.edits = b.edits[0], b.edits[1:]; err != nil {
			return err
		}
	}
	b.shown, b.leftOut[d.Key] = append(b.shown, "edit "+string(ref)+": "+d.Text), d.LeftOut
	return nil
}

func (b *board) working(on bool) error {
	if len(b.signs) > 0 {
		var err error
		if err, b.signs = b.signs[0], b.signs[1:]; err != nil {
			return err
		}
	}
	b.shown = append(b.shown, fmt.Sprintf("working %v", on))
	return nil
}

func (b *board) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.shown)
}

// reader is a board whose posts can be looked up.
type reader struct{ *board }

func (b *board) Health() (inbound, outbound error) { return nil, nil }

// Clock is another one than the outbox's, and as fast.
func (b *board) Clock() (now time.Time, ahead time.Duration, off error) {
	if b.now == nil { // of no office
		return boardTime, 0, nil
	}
	now = boardTime.Add(b.now().Sub(b.began))
	return now, b.now().Sub(now), nil
}

var boardTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Find is unsupported: posts can't be looked up.
func (b *board) Find(context.Context, core.Delivery) (core.Found, error) {
	return core.Found{}, core.Errorf(core.Unsupported, "The board can't be read.")
}

func (r reader) Find(_ context.Context, d core.Delivery) (core.Found, error) {
	name := fmt.Sprintf("%s.%d", d.Key, d.Part)
	r.mu.Lock()
	r.sentAt, r.reads = d.SentAt, append(r.reads, r.now())
	newer := !d.LostAt.IsZero() && r.newer.After(d.LostAt)
	var err error
	if len(r.find) > 0 {
		err, r.find = r.find[0], r.find[1:]
	}
	r.mu.Unlock()
	if err != nil {
		return core.Found{}, err
	}
	if slices.Contains(r.seen(), name) {
		return core.Found{Ref: core.Ref(name), More: d.Part+1 < r.parts}, nil
	}
	return core.Found{Late: r.late, Newer: newer}, nil
}

type cards struct{}

func (cards) Card(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{Approval: id, State: core.Approved}, nil
}

// office is an outbox over a real store.
type office struct {
	t     *testing.T
	store *storage.Store
	board *board
	box   *outbox.Deliverer
	n     int
	ahead time.Duration // of the clock that the store and the outbox have
}

func (o *office) now() time.Time { return time.Now().Add(o.ahead) }

func newOffice(t *testing.T, canRead bool, change func(*outbox.Options)) *office {
	t.Helper()
	o := &office{
		t: t, board: &board{script: map[string][]error{}, lost: map[string]bool{}, parts: 1, leftOut: map[string]int{}},
	}
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"),
		storage.Options{Now: o.now, NewID: func() string {
			return uuid.NewString()
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	o.store, o.board.now, o.board.began = store, o.now, o.now()
	var p core.Platform = o.board
	if canRead {
		p = reader{o.board}
	}
	opt := outbox.Options{
		Store: store, Cards: cards{}, Platforms: []core.Platform{p}, Owner: "me", Jitter: func() float64 {
			return -1
		},
	}
	if change != nil {
		change(&opt)
	}
	o.box = outbox.New(opt)
	return o
}

// put stores posts with a turn's Finish.
func (o *office) put(posts ...core.Post) {
	o.t.Helper()
	o.n++
	_, err := o.store.Accept(o.t.Context(),
		core.Event{Platform: "board", ID: fmt.Sprint(o.n), Conversation: "board:1", Body: core.MessageEvent{}})
	if err != nil {
		o.t.Fatal(err)
	}
	claims, err := o.store.Claim(o.t.Context(),
		core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "board"}}})
	if err != nil || len(claims) != 1 {
		o.t.Fatalf("%v, %v", claims, err)
	}
	for i := range posts {
		posts[i].To.Platform, posts[i].Conversation = "board", "board:1"
		if posts[i].Kind == "" {
			posts[i].Kind = core.PostReply
		}
	}
	if err := o.store.Finish(o.t.Context(),
		core.Finish{
			Claim:   claims[0],
			End:     core.End{Kind: core.EndReplied},
			Changes: core.Changes{Posts: posts},
		}); err != nil {
		o.t.Fatal(err)
	}
}

func (o *office) flush() string {
	o.t.Helper()
	if err := o.box.Flush(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	return strings.Join(o.board.seen(), ", ")
}

// die has another process take the one that flushes for dead.
func (o *office) die() {
	o.t.Helper()
	for range 5 {
		if err := o.store.Beat(o.t.Context(), "observer"); err != nil {
			o.t.Fatal(err)
		}
	}
}

func (o *office) row(key string) core.OutboxRow {
	o.t.Helper()
	rows, err := o.store.ListPosts(o.t.Context(), nil, "", 0)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, r := range rows {
		if r.Key == key {
			return r
		}
	}
	o.t.Fatalf("no row %s", key)
	return core.OutboxRow{}
}

var (
	errLater = core.Errorf(core.DeliveryLater, "slow down")
	errDoubt = core.Errorf(core.DeliveryInDoubt, "no answer")
	errNever = core.Errorf(core.DeliveryFailed, "no such channel")
)

func TestPostsAreSentOnceAndInOrder(t *testing.T) {
	o := newOffice(t, true, nil)
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	o.put(core.Post{Key: "c"})
	if got := o.flush(); got != "a.0, b.0, c.0" {
		t.Errorf("%s", got)
	}
	if got := o.flush(); got != "a.0, b.0, c.0" {
		t.Errorf("again: %s", got)
	}
}

func TestLongPostContinuesAfterItsLastSentPart(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.parts = 3
	o.board.script["a.1"] = []error{errLater}
	o.put(core.Post{Key: "a"})
	if got := o.flush(); got != "a.0, a.1, a.2" {
		t.Errorf("%s", got)
	}
}

func TestLostAnswerIsLookedUpBeforeAResend(t *testing.T) {
	for name, c := range map[string]struct {
		arrived, canRead bool
		want             string
		state            core.RowState
	}{
		"it had arrived":              {true, true, "a.0, b.0", core.RowSent},
		"it had not":                  {false, true, "a.0, b.0", core.RowSent},
		"it had, nobody can tell":     {true, false, "a.0, b.0", core.RowUnknown},
		"it had not, nobody can tell": {false, false, "b.0", core.RowUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice(t, c.canRead, nil)
			o.board.script["a.0"] = []error{errDoubt}
			o.board.lost["a.0"] = c.arrived
			o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
			if got := o.flush(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if r := o.row("a"); r.State != c.state {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestCrashBetweenSendAndAnswerIsResolved(t *testing.T) {
	o := newOffice(t, true, nil)
	o.put(core.Post{Key: "a"})
	rows, err := o.store.ClaimPosts(t.Context(),
		core.PostRequest{Owner: "gone", Limit: 1, Scopes: []core.Scope{{Platform: "board"}}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	rows[0].Parts = []core.Part{{InDoubt: true}}
	if err := o.store.SavePost(t.Context(), rows[0]); err != nil {
		t.Fatal(err)
	}
	o.board.shown = []string{"a.0"} // it went out, then the process died
	o.die()
	if got := o.flush(); got != "a.0" || o.row("a").State != core.RowSent {
		t.Errorf("%s, %s", got, o.row("a").State)
	}
}

func TestPermanentRefusalIsListedAndDelaysNoOtherPost(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = []error{errNever}
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	if got := o.flush(); got != "b.0" {
		t.Errorf("%s", got)
	}
	if r := o.row("a"); r.State != core.RowDead || !strings.Contains(r.Cause, "no such channel") {
		t.Errorf("%+v", r)
	}
}

func TestDelayedPostKeepsTheOrder(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = []error{errLater, errLater}
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	if got := o.flush(); got != "a.0, b.0" {
		t.Errorf("%s", got)
	}
}

func TestChangedPostIsEditedAndCardShowsItsState(t *testing.T) {
	o := newOffice(t, true, nil)
	o.put(core.Post{Key: "a", Text: "one"}, core.Post{Key: "card", Kind: core.PostCard, Approval: "x"})
	o.flush()
	o.put(core.Post{Key: "a", Text: "two"})
	if got := o.flush(); got != "a.0, card.0 approved, edit a.0: two" {
		t.Errorf("%s", got)
	}
}

func TestOldReplyIsMarkedLate(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) {
		opt.Freshness = time.Minute
	})
	o.put(core.Post{Key: "a"}, core.Post{Key: "n", Kind: core.PostNotice},
		core.Post{Key: "card", Kind: core.PostCard, Approval: "x"},
		core.Post{Key: "copy", Kind: core.PostCard, Approval: "x", Copy: true})
	o.ahead += time.Hour
	o.flush()
	got := o.board.seen()
	slices.Sort(got) // a copy is for another place, so it is not in their order
	if !slices.Equal(got, []string{"a.0 late", "card.0 late approved", "copy.0 approved", "n.0"}) {
		t.Errorf("%q", got)
	}
	o.put(core.Post{Key: "card", Kind: core.PostCard, Approval: "x"}) // a redraw, however late
	if got := o.flush(); !strings.HasSuffix(got, ", edit card.0 late approved: ") {
		t.Errorf("%s", got)
	}
}

func TestPostThatFailsForADayIsDead(t *testing.T) {
	const day = 21600 // seconds between two attempts are a few
	o := newOffice(t, true, nil)
	o.board.script["a.0"] = slices.Repeat([]error{errLater}, 20)
	o.put(core.Post{Key: "a"})
	rows, err := o.store.ClaimPosts(t.Context(),
		core.PostRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "board"}}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	rows[0].Attempts = day - 10
	if _, err := o.store.ReleasePost(t.Context(), rows[0], 0); err != nil {
		t.Fatal(err)
	}
	o.flush()
	if r := o.row("a"); r.State != core.RowDead {
		t.Errorf("%+v", r)
	}
}

func TestRunDeliversAfterNudge(t *testing.T) {
	o := newOffice(t, true, func(opt *outbox.Options) { opt.Poll = time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { _ = o.box.Run(ctx) })
	o.put(core.Post{Key: "a"})
	o.box.Nudge()
	for deadline := time.Now().Add(20 * time.Second); len(o.board.seen()) == 0 && time.Now().Before(deadline); {
		timer := time.NewTimer(5 * time.Millisecond)
		<-timer.C
	}
	cancel()
	done.Wait()
	if got := strings.Join(o.board.seen(), ", "); got != "a.0" {
		t.Errorf("%s", got)
	}
}
