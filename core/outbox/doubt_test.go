package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// pass lets the time pass until a row is due, and delivers what is due.
func (o *office) pass(key string) {
	o.t.Helper()
	row, err := o.store.LoadPost(o.t.Context(), key)
	if err != nil {
		o.t.Fatal(err)
	}
	if wait := row.NextAt.Sub(o.now()); wait > 0 {
		o.ahead += wait
	}
	o.flush()
}

// watch sends a post again, because its first message is not seen, and returns the look for its twin.
func (o *office) watch(post core.Post) core.OutboxRow {
	o.t.Helper()
	o.board.late = true
	o.board.script[post.Key+".0"] = []error{errDoubt}
	o.put(post)
	for o.flush(); o.row(post.Key).State == core.RowWaiting; {
		o.pass(post.Key)
	}
	row := o.row(post.Key)
	for fence := range row.Fence + 1 {
		look, err := o.store.LoadPost(o.t.Context(), fmt.Sprintf("twin/%d/0/%d", row.Seq, fence))
		if err == nil {
			return look
		}
	}
	o.t.Fatal("no twin is looked for")
	return core.OutboxRow{}
}

// logged has an office's log written to a buffer.
func logged(log *bytes.Buffer) func(*outbox.Options) {
	return func(opt *outbox.Options) { opt.Log = slog.New(slog.NewTextHandler(log, nil)) }
}

// Posts become readable late, and the answer to a send is lost. A look-up finds the post, and it is not sent twice.
func TestPostThatBecomesReadableLateIsNotSentTwice(t *testing.T) {
	for _, readable := range []time.Duration{0, 3 * time.Second, 6 * time.Second, 25 * time.Second, 31 * time.Second} {
		t.Run(readable.String(), func(t *testing.T) {
			o := newOffice(t, true, func(opt *outbox.Options) { opt.Jitter = nil })
			o.board.late = true
			o.board.script["a.0"] = []error{errDoubt}
			o.put(core.Post{Key: "a"})
			sent := o.now()
			o.flush()
			for o.row("a").State == core.RowWaiting {
				if o.row("a").NextAt.Sub(sent) >= readable && len(o.board.seen()) == 0 {
					o.board.shown = []string{"a.0"}
				}
				o.pass("a")
			}
			if got := o.flush(); got != "a.0" {
				t.Errorf("shown: %s", got)
			}
		})
	}
}

// A look-up that shows something newer than the end of the send proves that the post has not arrived. What is not newer
// proves nothing.
func TestSomethingNewerSettlesADoubtAtOnce(t *testing.T) {
	var log bytes.Buffer
	o := newOffice(t, true, logged(&log))
	o.board.late = true
	o.board.script["a.0"] = []error{errDoubt}
	o.put(core.Post{Key: "a"}, core.Post{Key: "b"})
	o.flush()
	o.board.newer, _, _ = o.board.Clock()
	o.board.newer = o.board.newer.Add(-time.Second)
	o.pass("a")
	if row := o.row("a"); row.State != core.RowWaiting || !strings.Contains(row.Cause, "looked for again") {
		t.Fatalf("an older message settles it: %+v", row)
	}
	o.ahead += 3 * time.Second
	o.board.newer, _, _ = o.board.Clock()
	o.ahead += time.Millisecond
	o.pass("a")
	if got := o.flush(); got != "a.0, b.0" || o.row("a").State != core.RowSent {
		t.Errorf("shown: %s, %+v", got, o.row("a"))
	}
	counts := o.box.Counts()["board"]
	if counts[outbox.InDoubt] != 1 || counts[outbox.AgainNewer] != 1 || counts[outbox.AgainUnseen] != 0 {
		t.Errorf("%v", counts)
	}
	if text := log.String(); !strings.Contains(text, "may or may not have arrived") ||
		!strings.Contains(text, "sent again") {
		t.Errorf("the log says\n%s", text)
	}
}

// Without anything newer, a post is sent again once it was looked for twice, at least 30 s apart.
func TestPostThatIsNeverSeenIsSentAgainAfterTwoReads(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.late = true
	o.board.script["a.0"] = []error{errDoubt}
	o.put(core.Post{Key: "a"})
	for o.flush(); o.row("a").State == core.RowWaiting; {
		o.pass("a")
	}
	if got := o.flush(); got != "a.0" || o.row("a").Attempts != 0 {
		t.Errorf("shown: %s, %+v", got, o.row("a"))
	}
	reads := o.board.reads
	if apart := reads[len(reads)-1].Sub(reads[0]); len(reads) < 2 || apart < 30*time.Second || apart > time.Minute {
		t.Errorf("it was looked for at %v", reads)
	}
	if since := o.board.sentAt.Sub(boardTime); since < 0 || since > 10*time.Second {
		t.Errorf("it was looked for from %s on, not by the platform's clock", o.board.sentAt)
	}
	if counts := o.box.Counts()["board"]; counts[outbox.AgainUnseen] != 1 {
		t.Errorf("%v", counts)
	}
}

// A row that is looked for too early, whatever made it due, is not sent again earlier.
func TestEarlyReadsDoNotShortenTheWait(t *testing.T) {
	o := newOffice(t, true, nil)
	o.board.late = true
	o.board.script["a.0"] = []error{errDoubt}
	o.put(core.Post{Key: "a"})
	o.flush()
	for range 10 {
		o.ahead -= 2 * time.Hour // the database's clock is set back: what was delayed is due
		o.board.began = o.board.began.Add(-2 * time.Hour)
		o.flush()
	}
	if got := o.flush(); got != "" {
		t.Errorf("after %d reads within a moment it was sent again", len(o.board.reads))
	}
}

// twice is a board on which a part can stand twice.
type twice struct {
	reader
	copies  []core.Copy
	deleted []core.Ref
}

func (w *twice) Copies(context.Context, core.Delivery) ([]core.Copy, error) { return w.copies, nil }

func (w *twice) Delete(_ context.Context, ref core.Ref) error {
	w.deleted = append(w.deleted, ref)
	w.copies = slices.DeleteFunc(slices.Clone(w.copies), func(c core.Copy) bool { return c.Ref == ref })
	return nil
}

// A post that was sent again stands twice once its first message becomes readable. Of the two, one that nobody has
// answered or pressed is deleted, and the post goes on with the other.
func TestPostThatStandsTwiceLosesTheCopyThatNobodyHasTouched(t *testing.T) {
	for name, c := range map[string]struct {
		first, second bool // people have answered
		card          core.ApprovalState
		deleted       []core.Ref
		ref           core.Ref
	}{
		"nobody has answered":       {deleted: []core.Ref{"first"}, ref: "a.0"},
		"the second is answered":    {second: true, deleted: []core.Ref{"first"}, ref: "a.0"},
		"the first is answered":     {first: true, deleted: []core.Ref{"a.0"}, ref: "first"},
		"both are answered":         {first: true, second: true, ref: "a.0"},
		"an open card":              {card: core.Open, deleted: []core.Ref{"first"}, ref: "a.0 open"},
		"a card that was pressed":   {card: core.Approved, ref: "a.0 approved"},
		"an open card, with a talk": {card: core.Open, first: true, deleted: []core.Ref{"a.0 open"}, ref: "first"},
	} {
		t.Run(name, func(t *testing.T) {
			var w *twice
			o := newOffice(t, true, func(opt *outbox.Options) {
				w = &twice{reader: opt.Platforms[0].(reader)}
				opt.Platforms = []core.Platform{w}
				if c.card == core.Open {
					opt.Cards = stillOpen{}
				}
			})
			post := core.Post{Key: "a"}
			if c.card != "" {
				post.Kind, post.Approval = core.PostCard, "x"
			}
			watch := o.watch(post).Key
			own := o.row("a").Parts[0].Ref
			rows, err := o.store.ListPosts(t.Context(), []core.RowState{core.RowWaiting}, "", 0)
			q, failed := o.store.Queue(t.Context(), 0)
			if err != nil || failed != nil || len(rows)+q.Posts != 0 {
				t.Errorf("a look for a twin counts as a post that waits: %+v, %+v, %v, %v", rows, q, err, failed)
			}
			w.copies = []core.Copy{{Ref: own, Touched: c.second}}
			o.pass(watch)
			w.copies = []core.Copy{{Ref: "first", Touched: c.first}, {Ref: own, Touched: c.second}}
			o.pass(watch)
			if !slices.Equal(w.deleted, c.deleted) || o.row("a").Parts[0].Ref != c.ref {
				t.Errorf("%q is deleted, and %+v is kept", w.deleted, o.row("a").Parts)
			}
			if row, err := o.store.LoadPost(t.Context(), watch); err != nil || row.State != core.RowSent {
				t.Errorf("%+v, %v", row, err)
			}
			counts := o.box.Counts()["board"]
			if int(counts[outbox.TwinDeleted]) != len(c.deleted) || int(counts[outbox.TwinKept]) != 1-len(c.deleted) {
				t.Errorf("%v", counts)
			}
		})
	}
}

// Nothing is looked for any more after a while.
func TestLookForATwinEnds(t *testing.T) {
	var w *twice
	o := newOffice(t, true, func(opt *outbox.Options) {
		w = &twice{reader: opt.Platforms[0].(reader)}
		opt.Platforms = []core.Platform{w}
	})
	watch := o.watch(core.Post{Key: "a"}).Key
	for range 100 {
		row, err := o.store.LoadPost(t.Context(), watch)
		if err != nil {
			t.Fatal(err)
		}
		if row.State == core.RowSent {
			return
		}
		o.pass(watch)
	}
	t.Error("it never ends")
}
