package storagetest

import (
	"encoding/json"
	"gatehouse/storage/internal/sqlstore"
	"sync"

	"gatehouse/core"
)

var inboxExamples = []example{
	{"an event is stored unchanged", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		e.Actor = core.Actor{ID: "plat:x", Name: "<X> & Y", Local: true, Groups: []string{"plat:g"}}
		e.Address.Thread = "17.4"
		e.Payload = json.RawMessage("{\n \"a\": [1,  2.50, \"<b>\"]}\xff")
		r := must(w.Accept(w.ctx, e))(w)
		got := w.record(r.Seq)
		w.equal("the event", got.Event, e)
		if !r.Fresh || got.Invocation == "" || got.AcceptedAt.IsZero() || got.Attempt != 0 || !got.EndedAt.IsZero() ||
			got.Session != "" {
			w.Fatalf("receipt %+v, record %+v", r, got)
		}
	}},
	{"a payload may be missing", func(w *world) {
		e := w.event(core.KindControl, conversation, "stop")
		e.Payload = nil
		if got := w.record(w.accept(e)); got.Payload != nil {
			w.Fatalf("got payload %q", got.Payload)
		}
	}},
	{"a known event is not stored again", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		first := must(w.Accept(w.ctx, e))(w)
		e.Conversation, e.Payload = other, json.RawMessage(`"another"`)
		again := must(w.Accept(w.ctx, e))(w)
		w.equal("the receipt", again, core.Receipt{Seq: first.Seq})
		w.done(w.take(first.Seq, minute), core.Finish{})
		w.equal("the receipt after the end", must(w.Accept(w.ctx, e))(w), core.Receipt{Seq: first.Seq})
		w.idle()
	}},
	{"the same id on two platforms is two events", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		first := w.accept(e)
		e.Platform = "elsewhere"
		if r := must(w.Accept(w.ctx, e))(w); !r.Fresh || r.Seq == first {
			w.Fatalf("got %+v", r)
		}
	}},
	{"numbers follow the order of commits", func(w *world) {
		a, b, c := w.message(conversation), w.message(other), w.message(conversation)
		if a >= b || b >= c {
			w.Fatalf("got %d, %d, %d", a, b, c)
		}
	}},
	{"each event has an invocation of its own, a signal the paused one", func(w *world) {
		a, b := w.record(w.message(conversation)), w.record(w.message(conversation))
		if a.Invocation == b.Invocation {
			w.Fatalf("both have %s", a.Invocation)
		}
		if got := w.record(w.signal(conversation, "inv-7")); got.Invocation != "inv-7" {
			w.Fatalf("the signal is for %s", got.Invocation)
		}
	}},
	{"an event without its key is refused", func(w *world) {
		for _, spoil := range []func(*core.Event){
			func(e *core.Event) { e.Platform = "" }, func(e *core.Event) { e.ID = "" },
			func(e *core.Event) { e.Conversation = "" }, func(e *core.Event) { e.Body = nil },
		} {
			e := w.event(core.KindMessage, conversation, "")
			spoil(&e)
			_, err := w.Accept(w.ctx, e)
			w.fails(err, core.Invalid)
		}
	}},
	{"many concurrent events are each stored once", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view()}
		const events, copies = 20, 4
		fresh := make(chan int64, events*copies)
		var wg sync.WaitGroup
		for i := range events {
			e := w.event(core.KindMessage, conversation, "")
			for j := range copies {
				wg.Go(func() {
					r, err := views[(i+j)%2].Accept(w.ctx, e)
					if err != nil {
						w.Errorf("accepting: %v", err)
					} else if r.Fresh {
						fresh <- r.Seq
					}
				})
			}
		}
		wg.Wait()
		close(fresh)
		seen := map[int64]bool{}
		for seq := range fresh {
			seen[seq] = true
		}
		if all := must(w.Events(w.ctx, core.EventFilter{}))(w); len(all) != events || len(seen) != events {
			w.Fatalf("%d events, %d fresh receipts, want %d", len(all), len(seen), events)
		}
	}},
	{"a cancelled call changes nothing", func(w *world) {
		ctx, cancel := contextThatIsOver(w)
		defer cancel()
		if _, err := w.Accept(ctx, w.event(core.KindMessage, conversation, "")); err == nil {
			w.Fatal("no error")
		}
		w.idle()
	}},
}
