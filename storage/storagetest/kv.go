package storagetest

import (
	"gatehouse/storage/internal/sqlstore"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/core"
)

func (w *world) got(what, name, want string) {
	w.Helper()
	w.equal(what, must(w.Get(w.ctx, name))(w), want)
}

// holds acquires a lease for an owner and checks the result.
func (w *world) holds(what string, s *sqlstore.Store, name, owner string, lease time.Duration, want bool) {
	w.Helper()
	w.equal(what, must(s.AcquireLease(w.ctx, name, owner, lease))(w), want)
}

// takesTokens checks that the next n uses are counted.
func (w *world) takesTokens(n int, name string, limit int, window time.Duration) {
	w.Helper()
	for i := range n {
		if wait := must(w.TakeToken(w.ctx, name, limit, window))(w); wait != 0 {
			w.Fatalf("use %d of %s has to wait %s", i+1, name, wait)
		}
	}
}

// refused checks that the next use is not counted and that the wait is more than above and at most most.
func (w *world) refused(name string, limit int, window, above, most time.Duration) time.Duration {
	w.Helper()
	wait := must(w.TakeToken(w.ctx, name, limit, window))(w)
	if wait <= above || wait > most {
		w.Fatalf("%s has to wait %s, want more than %s and %s at most", name, wait, above, most)
	}
	return wait
}

var kvExamples = []example{
	{"PutIfAbsent keeps the first value, for every process", func(w *world) {
		w.equal("the first", must(w.PutIfAbsent(w.ctx, "key", "one"))(w), "one")
		w.equal("the second", must(w.view().PutIfAbsent(w.ctx, "key", "two"))(w), "one")
		w.equal("another", must(w.PutIfAbsent(w.ctx, "paused", "three"))(w), "three")
		w.message(conversation)
		w.claim(minute)
	}},
	{"A database says nothing of a move before there was one", func(w *world) {
		w.ok(w.Put(w.ctx, sqlstore.MovedName, "another value"))
		w.equal("the move", must(w.Moved(w.ctx))(w) == nil, true)
	}},
	{"Put replaces and removes a value, for every process", func(w *world) {
		view := w.view()
		w.got("in the beginning", "key", "")
		w.ok(w.Put(w.ctx, "key", "one"))
		w.ok(w.Put(w.ctx, "key2", "apart"))
		w.got("put", "key", "one")
		w.ok(view.Put(w.ctx, "key", "two"))
		w.got("put again", "key", "two")
		w.ok(view.Put(w.ctx, "key", ""))
		w.got("removed", "key", "")
		w.ok(w.Put(w.ctx, "key", ""))
		w.got("the other", "key2", "apart")
		w.restart()
		w.old()
		w.prune()
		w.got("long after", "key2", "apart")
	}},
	{"names of values, leases, rate limits and the store itself do not collide", func(w *world) {
		w.ok(w.Put(w.ctx, "key", "put"))
		w.equal("kept", must(w.PutIfAbsent(w.ctx, "key", "kept"))(w), "kept")
		w.ok(w.Put(w.ctx, "kept/key", "put"))
		must(w.PutIfAbsent(w.ctx, "put/key", "kept"))(w)
		w.holds("held", w.Store, "key", "a", minute, true)
		w.takesTokens(1, "key", 1, minute)
		w.ok(w.Put(w.ctx, "paused", "true"))
		w.message(conversation)
		w.done(w.claim(minute), core.Finish{})
		w.got("put", "key", "put")
		w.ok(w.Put(w.ctx, "key", ""))
		w.equal("kept, still", must(w.PutIfAbsent(w.ctx, "key", "other"))(w), "kept")
		w.ok(w.SetPaused(w.ctx, true))
		w.ok(w.Put(w.ctx, "paused", ""))
		w.message(conversation)
		w.idle()
	}},
	{"PutFor's value is gone after its lifetime, from the table too", func(w *world) {
		view := w.view()
		w.ok(w.PutFor(w.ctx, "key", "one", minute))
		w.ok(w.PutFor(w.ctx, "short", "a\x00b", 10*time.Second))
		w.ok(w.Put(w.ctx, "stays", "one"))
		w.got("put", "short", "a\x00b")
		w.equal("while they last", must(w.Prune(w.ctx, 0))(w), 0)
		w.db.Advance(10 * time.Second)
		for _, s := range []*sqlstore.Store{w.Store, view} {
			w.equal("the short one", must(s.Get(w.ctx, "short"))(w), "")
			w.equal("the other", must(s.Get(w.ctx, "key"))(w), "one")
		}
		w.equal("removed, however young", w.prune(), 1)
		w.db.Advance(40 * time.Second)
		w.ok(view.PutFor(w.ctx, "key", "two", minute)) // it lasts from now
		w.db.Advance(40 * time.Second)
		w.got("put again", "key", "two")
		w.restart()
		w.db.Advance(minute)
		w.got("after a restart", "key", "")
		w.equal("removed", w.prune(), 1)
		w.got("the one that was put for good", "stays", "one")
	}},
	{"Put and PutFor replace each other's values", func(w *world) {
		w.ok(w.Put(w.ctx, "key", "one"))
		w.ok(w.PutFor(w.ctx, "key", "two", minute))
		w.ok(w.PutFor(w.ctx, "other", "one", minute))
		w.ok(w.Put(w.ctx, "other", "two"))
		w.ok(w.PutFor(w.ctx, "removed", "one", minute))
		w.ok(w.PutFor(w.ctx, "removed", "", minute))
		w.got("removed", "removed", "")
		w.ok(w.PutFor(w.ctx, "over", "one", minute))
		w.ok(w.PutFor(w.ctx, "over", "two", 0))
		w.got("over at once", "over", "")
		for _, bad := range []string{strings.Repeat("x", core.MaxValue+1), "a\xff"} {
			w.fails(w.PutFor(w.ctx, "key", bad, minute), core.Invalid)
		}
		w.got("put for a time", "key", "two")
		w.db.Advance(minute)
		w.got("put for a time", "key", "")
		w.got("put for good", "other", "two")
		w.equal("removed", w.prune(), 1)
		w.got("put for good", "other", "two")
	}},
	{"tokens are counted for each person and day", func(w *world) {
		count := func(person string, n, want int64) {
			w.Helper()
			w.equal(person, must(w.AddTokens(w.ctx, person, n))(w), want)
		}
		count("plat:ann", 0, 0)
		count("plat:ann", 120, 120)
		count("plat:ann", 0, 120)
		count("plat:bob", 7, 7)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { must(w.AddTokens(w.ctx, "plat:ann", 1))(w) })
		}
		all.Wait()
		w.restart()
		count("plat:ann", 0, 140)
		w.db.Advance(24 * time.Hour)
		count("plat:ann", 3, 3)
		w.db.Advance(7 * 24 * time.Hour)
		w.equal("removed", w.prune(), 2)
	}},
	{"a value may be long, and is any text, byte for byte", func(w *world) {
		for _, value := range []string{
			"\x00", "a\x00b\x00", "{\"a\": 1}\n", "\r\n\t \\ ' \" <&>", "\u2028\ufffd\U0001f600",
			"\x7f\u0080\U0010ffff",
			strings.Repeat("\x00", core.MaxValue), strings.Repeat("€", core.MaxValue/3),
			strings.Repeat("x", core.MaxValue),
		} {
			w.ok(w.Put(w.ctx, "key", value))
			if got := must(w.Get(w.ctx, "key"))(w); got != value {
				w.Fatalf("%d bytes came back as %d: %.40q, %.40q", len(value), len(got), value, got)
			}
		}
		for _, bad := range []string{strings.Repeat("x", core.MaxValue+1), "a\xff"} {
			w.fails(w.Put(w.ctx, "key", bad), core.Invalid)
		}
		w.got("what was there", "key", strings.Repeat("x", core.MaxValue))
	}},
	{"a name has one holder, for the length of a lease", func(w *world) {
		view := w.view()
		w.holds("the first", w.Store, "name", "a", minute, true)
		w.holds("another", view, "name", "b", minute, false)
		w.holds("another name", view, "name2", "b", minute, true)
		w.db.Advance(40 * time.Second)
		w.holds("renewed, by any view", view, "name", "a", minute, true)
		w.db.Advance(40 * time.Second)
		w.holds("while the renewed lease lasts", view, "name", "b", minute, false)
		w.db.Advance(20 * time.Second)
		w.holds("after it", view, "name", "b", minute, true)
		w.holds("the first, too late", w.Store, "name", "a", minute, false)
	}},
	{"a lease outlives its process, and is pruned long after", func(w *world) {
		w.holds("held", w.Store, "name", "a", 3*minute, true)
		w.restart()
		w.holds("while it lasts", w.Store, "name", "b", minute, false)
		w.equal("while it lasts", must(w.Prune(w.ctx, 0))(w), 0)
		w.old()
		w.equal("removed", w.prune(), 1)
		w.holds("then", w.Store, "name", "b", minute, true)
	}},
	{"a holder releases its own lease, not another's", func(w *world) {
		w.holds("nothing to release", w.Store, "name", "a", 0, false)
		w.holds("held", w.Store, "name", "a", minute, true)
		w.holds("another lets go", w.view(), "name", "b", 0, false)
		w.holds("another owner", w.Store, "name", "b", minute, false)
		w.holds("released", w.Store, "name", "a", -minute, false)
		w.holds("another owner", w.view(), "name", "b", minute, true)
		w.holds("released again", w.Store, "name", "a", 0, false)
		w.holds("still held", w.Store, "name", "a", minute, false)
		_, err := w.AcquireLease(w.ctx, "name", "", minute)
		w.fails(err, core.Invalid)
	}},
	{"of many concurrent owners, one gets the lease", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view(), w.view()}
		owners := []string{"a", "b", "c"}
		for range 5 {
			w.db.Advance(minute)
			var held atomic.Int64
			var all sync.WaitGroup
			for i := range 9 {
				all.Go(func() {
					// Each owner asks three times, from three views; the holder succeeds each time.
					ok, err := views[i%3].AcquireLease(w.ctx, "name", owners[i/3], minute)
					if err != nil {
						w.Errorf("holding: %v", err)
					}
					if ok {
						held.Add(1)
					}
				})
			}
			all.Wait()
			w.equal("who were told that they hold it", held.Load(), int64(3))
		}
	}},
	{"no more tokens than the limit are taken in a window", func(w *world) {
		w.takesTokens(2, "name", 3, minute)
		w.db.Advance(30 * time.Second)
		w.takesTokens(1, "name", 3, minute)
		for range 3 { // what is refused counts for nothing
			w.refused("name", 3, minute, 0, 30*time.Second)
		}
		w.takesTokens(3, "another", 3, minute)
		w.db.Advance(w.refused("name", 3, minute, 0, 30*time.Second))
		w.takesTokens(1, "name", 3, minute)
		w.db.Advance(minute)
		w.takesTokens(3, "name", 3, minute)
		w.refused("name", 3, minute, 30*time.Second, minute)
	}},
	{"with a lower limit the wait is until enough uses have left the window", func(w *world) {
		w.takesTokens(1, "name", 3, minute)
		w.db.Advance(30 * time.Second)
		w.takesTokens(1, "name", 3, minute)
		w.refused("name", 1, minute, 30*time.Second, minute)
		w.refused("name", 2, minute, 0, 30*time.Second)
		w.takesTokens(1, "name", 3, minute)
	}},
	{"a limit below one is invalid, and a zero window limits nothing", func(w *world) {
		for _, limit := range []int{0, -1} {
			_, err := w.TakeToken(w.ctx, "name", limit, minute)
			w.fails(err, core.Invalid)
		}
		w.takesTokens(3, "name", 1, 0)
		w.takesTokens(3, "name", 1, -minute)
	}},
	{"uses outlive their process, and are removed once they are old", func(w *world) {
		w.takesTokens(3, "name", 3, 24*time.Hour)
		w.restart()
		w.refused("name", 3, 24*time.Hour, minute, 24*time.Hour)
		w.equal("while they count", must(w.Prune(w.ctx, 0))(w), 0)
		w.old()
		w.takesTokens(1, "name", 3, 24*time.Hour) // it removes the three
		w.old()
		w.equal("removed", w.prune(), 1)
		w.takesTokens(3, "name", 3, minute)
	}},
	{"of many concurrent uses, as many as the limit are counted", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view()}
		for _, name := range []string{"new", "known"} {
			if name == "known" {
				w.takesTokens(7, name, 7, minute)
				w.db.Advance(minute)
			}
			var counted atomic.Int64
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					wait, err := views[i%2].TakeToken(w.ctx, name, 7, minute)
					switch {
					case err != nil:
						w.Errorf("spending: %v", err)
					case wait == 0:
						counted.Add(1)
					case wait < 0 || wait > minute:
						w.Errorf("the wait is %s", wait)
					}
				})
			}
			all.Wait()
			w.equal("what was counted of "+name, counted.Load(), int64(7))
		}
	}},
}
